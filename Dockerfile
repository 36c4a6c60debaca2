# Two stages: one that builds, one that runs. No install scripts: every native part ships ready-made.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY schemas ./schemas
COPY tools ./tools
COPY examples ./examples
COPY src ./src
RUN npm run build

FROM node:24-bookworm-slim
ENV NODE_ENV=production \
    MILLRACE_STATE_DIR=/var/lib/millrace \
    MILLRACE_HOST=0.0.0.0
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts && npm cache clean --force \
    && ln -s /app/bin/millrace.js /usr/local/bin/millrace \
    && install -d -o node -g node -m 0700 /var/lib/millrace
COPY bin/millrace.js ./bin/millrace.js
COPY --from=build /app/dist ./dist
COPY examples ./examples
USER node
VOLUME /var/lib/millrace
EXPOSE 3000 8000
# A container that runs only mcp-sse sets HEALTH_PORT=8000.
HEALTHCHECK --interval=30s --timeout=3s --start-period=5s --retries=3 \
    CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.HEALTH_PORT ?? 3000}/health`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["millrace"]
CMD ["start"]
