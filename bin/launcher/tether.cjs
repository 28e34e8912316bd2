// Preloaded into child processes of the launcher: ends them when the launcher dies without a signal (kill -9). The
// launcher holds the other end of this pipe. It is not an IPC channel, because the child must not find a parent to talk
// to.
const { Socket } = require('node:net')

// `node --watch` also preloads this into its own child, which has a different parent and no such pipe.
if (process.ppid === Number(process.env.LAUNCHER_PID)) {
  new Socket({ fd: 3, readable: true, writable: false })
    .once('close', () => process.kill(process.pid, 'SIGTERM'))
    .resume()
    .unref()
}
