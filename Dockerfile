# The image of every Patchbay process: `patchbay start` by default, any other command as arguments.
#
# It holds no secret: give PATCHBAY_API_KEY and PATCHBAY_TOKEN when you run it. The page binds to the container's
# loopback; to reach it from outside set HOST=0.0.0.0, which needs PATCHBAY_TOKEN.
FROM node:24-slim

# Elsewhere a folder that others can write to must not hold what Node has compiled. No other user is in here.
ENV NODE_ENV=production \
    NODE_COMPILE_CACHE=/tmp/node-compile-cache \
    PATCHBAY_DATA=/data \
    PORT=8080

WORKDIR /app

# The image's own Node 24 runs everything: the runtimes among the optional dependencies are left out.
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --omit=optional && npm cache clean --force

COPY config ./config
COPY jobs ./jobs
COPY src ./src

# A named volume takes over the owner of this folder, so that the process can write without being root.
RUN mkdir /data && chown node:node /data
VOLUME /data

USER node
EXPOSE 8080

HEALTHCHECK --interval=10s --timeout=5s --start-period=10s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then((reply) => process.exit(reply.ok ? 0 : 1), () => process.exit(1))"]

ENTRYPOINT ["node", "--max-semi-space-size=8", "--heap-growing-percent=30", "--no-parallel-scavenge", "--no-allocation-site-pretenuring", "--v8-pool-size=1", "src/cli/patchbay.mjs"]
CMD ["start"]
