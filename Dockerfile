# An image of Patchbay: its build and what it runs on, nothing to build with. It writes to /data and nowhere else.

FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --include=dev
COPY prisma.config.ts tsconfig.json tsconfig.build.json ./
COPY prisma prisma
COPY scripts scripts
COPY src src
RUN node scripts/generate.ts && node node_modules/typescript/bin/tsc -p tsconfig.build.json && node scripts/bundle.ts dist

# Without the optional packages: npm counts the Prisma command line and the compiler among them (as optional peers of
# the Prisma client), 250 MB that nothing here runs. The one kind that is needed comes from the stage before.
FROM node:24-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --omit=optional
COPY --from=build /app/node_modules/@node-rs node_modules/@node-rs

FROM node:24-slim
LABEL org.opencontainers.image.title="Patchbay" \
      org.opencontainers.image.description="Turns HTTP APIs and existing MCP servers into hosted, secured MCP servers" \
      org.opencontainers.image.licenses="MIT"
ENV NODE_ENV=production \
    PATCHBAY_HOST=0.0.0.0 \
    DATABASE_URL=file:/data/patchbay.db
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY bin bin
COPY migrations migrations
COPY views views
COPY public public
COPY package.json LICENSE ./
# A volume takes the owner of the folder it is mounted over.
RUN install -d -o node -g node -m 0700 /data
USER 1000:1000
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PATCHBAY_PORT || process.env.PORT || 8080}/healthz`).then(answer => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["/app/bin/patchbay"]
CMD ["serve"]
