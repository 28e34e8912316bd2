// Preloaded into what the launcher starts: ends it when the launcher is gone without having said so (kill -9). The
// launcher holds the other end of this pipe. It is no IPC channel: what runs here must not find a parent to talk to.
const { Socket } = require('node:net')

// `node --watch` preloads it into its own child as well, which has another parent and no such pipe.
if (process.ppid === Number(process.env.LAUNCHER_PID)) {
  new Socket({ fd: 3, readable: true, writable: false })
    .once('close', () => process.kill(process.pid, 'SIGTERM'))
    .resume()
    .unref()
}
