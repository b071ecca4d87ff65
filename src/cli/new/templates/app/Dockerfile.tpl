# #if docker
# syntax=docker/dockerfile:1
# docker build --tag {{name}} .
ARG NODE_IMAGE=node:24-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
# #end
# #if dockermanager
RUN npm install --global {{managerPackage}}@{{managerVersion}}
# #end
# #if docker
# Packages first, so that a change of a source does not install them again.
COPY package.json {{installFiles}} ./
RUN {{cleanInstall}}
COPY . .
RUN {{run}} build && {{prune}}

FROM ${NODE_IMAGE}
ENV NODE_ENV=production PORT=3000
WORKDIR /app
# Owned by root, so the application cannot change its own code.
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./
# #end
# #if dockersqlite
# The user of the application owns the folder of the database: DATABASE_URL=sqlite:/data/app.db
RUN mkdir /data && chown 1000:1000 /data
VOLUME /data
# #end
# #if docker
# The number of the user `node`; Kubernetes checks `runAsNonRoot` by number.
USER 1000:1000
EXPOSE 3000
STOPSIGNAL SIGTERM
# /livez and /readyz are routes of the framework.
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/livez`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Not through a package manager or a shell: SIGTERM must reach the application.
CMD ["node", "node_modules/mortar/dist/cli/main.js", "start"]
# #end
