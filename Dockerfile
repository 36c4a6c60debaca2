# Three stages: one builds, one gathers the packages that run, one is the image. No package's install script is run:
# every native part ships ready-made. To build on the same base each time, name it by its digest:
#   docker build --build-arg NODE_IMAGE=node:24-bookworm-slim@sha256:… .
ARG NODE_IMAGE=node:24-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY schemas ./schemas
COPY tools ./tools
COPY examples ./examples
COPY src ./src
RUN npm run build

FROM ${NODE_IMAGE} AS packages
# What npm calls the thing that the bill of materials is of.
WORKDIR /millrace
COPY package.json package-lock.json ./
COPY bin/prune.ts ./bin/
# `npm sbom --omit dev` would leave out what development dependencies need too: they are forgotten first.
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
# The base's user `node`, by number: only so can an orchestrator see that it is not root.
USER 1000:1000
# All that is written to, so that the root file system can be read-only.
VOLUME ["/var/lib/millrace", "/tmp"]
EXPOSE 3000 8000
# A container that runs only mcp-sse sets HEALTH_PORT=8000.
HEALTHCHECK --interval=30s --timeout=3s --start-period=5s --retries=3 \
    CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.HEALTH_PORT ?? 3000}/health`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["millrace"]
CMD ["start"]
