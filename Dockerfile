# An image of Patchbay: the package that `npm pack` makes, installed. It writes to /data and nowhere else.

FROM node:24-slim AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN npm ci --include=dev --ignore-scripts --no-audit --no-fund
COPY . .
RUN mkdir /package && npm pack --pack-destination /package

# The lock file pins what npm would choose when it installs the package by name.
FROM node:24-slim AS install
WORKDIR /app
COPY --from=build /package/patchbay-*.tgz patchbay.tgz
RUN tar -xzf patchbay.tgz --strip-components=1 && rm patchbay.tgz
COPY package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund

FROM node:24-slim
LABEL org.opencontainers.image.title="Patchbay" \
      org.opencontainers.image.description="Turns HTTP APIs and existing MCP servers into hosted, secured MCP servers" \
      org.opencontainers.image.licenses="MIT"
ENV NODE_ENV=production \
    PATCHBAY_HOST=0.0.0.0 \
    DATABASE_URL=file:/data/patchbay.db
WORKDIR /app
COPY --from=install /app .
# A volume takes the owner of the folder it is mounted over.
RUN install -d -o node -g node -m 0700 /data
USER 1000:1000
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PATCHBAY_PORT || process.env.PORT || 8080}/healthz`).then(answer => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
# As PID 1, without an init, this starts a shell that reaps orphans (bin/launcher/init.sh).
ENTRYPOINT ["/app/bin/patchbay"]
CMD ["serve"]
