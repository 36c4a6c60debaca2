# Three stages: the build, the packages needed at run time, and the image. No install script of a package runs, because all
# native modules ship prebuilt. To build on the same base each time, name it by its digest:
#   docker build --build-arg NODE_IMAGE=node:24-bookworm-slim@sha256:… .
ARG NODE_IMAGE=node:24-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY tsconfig.json vite.program.config.ts ./
COPY schemas ./schemas
COPY packages ./packages
COPY tools ./tools
COPY examples ./examples
COPY src ./src
COPY bin/build-web.js ./bin/
RUN npm run build

FROM ${NODE_IMAGE} AS packages
# npm uses the name of this directory as the name in the bill of materials.
WORKDIR /millrace
COPY package.json package-lock.json ./
COPY bin/prune.ts ./bin/
# `npm sbom --omit dev` would also omit packages that development dependencies share, so those are deleted first.
RUN npm ci --omit=dev --ignore-scripts && node bin/prune.ts node_modules \
    && npm pkg delete devDependencies && npm sbom --sbom-format cyclonedx >sbom.cdx.json

FROM ${NODE_IMAGE}
ARG VERSION=0.1.0
ARG REVISION=
LABEL org.opencontainers.image.title="Millrace" \
    org.opencontainers.image.description="A self-hosted workflow service for LLM agents, scripts and people" \
    org.opencontainers.image.licenses="Apache-2.0" \
    org.opencontainers.image.version="${VERSION}" \
    org.opencontainers.image.revision="${REVISION}"
ENV NODE_ENV=production \
    MILLRACE_STATE_DIR=/var/lib/millrace \
    MILLRACE_HOST=0.0.0.0
WORKDIR /app
RUN ln -s /app/bin/millrace.js /usr/local/bin/millrace \
    && install -d -o 1000 -g 1000 -m 0700 /var/lib/millrace
COPY package.json LICENSE ./
COPY --from=packages /millrace/node_modules ./node_modules
COPY --from=packages /millrace/sbom.cdx.json ./
COPY bin/millrace.js ./bin/
COPY examples ./examples
COPY --from=build /app/dist ./dist
# The user `node` of the base image, by number, so that an orchestrator can verify that it is not root.
USER 1000:1000
# All directories that Millrace writes to, so that the root file system can be read-only.
VOLUME ["/var/lib/millrace", "/tmp"]
EXPOSE 3000 8000
# A container that runs only mcp-sse sets HEALTH_PORT=8000.
HEALTHCHECK --interval=30s --timeout=3s --start-period=5s --retries=3 \
    CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.HEALTH_PORT ?? 3000}/health`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["millrace"]
CMD ["start"]
