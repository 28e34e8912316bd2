import { spawn } from 'node:child_process'
import { closeSync, existsSync, openSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { isatty } from 'node:tty'
import { fileURLToPath } from 'node:url'

const TETHER = fileURLToPath(new URL('tether.cjs', import.meta.url))
const INIT = fileURLToPath(new URL('init.sh', import.meta.url))
const SHELL = '/bin/sh'
const STOPPING = ['SIGINT', 'SIGTERM', 'SIGHUP']
const SHELL_LOOK_MS = 250

const hasGroups = process.platform !== 'win32'
const isUnderNpm = hasGroups && process.env.npm_lifecycle_event !== undefined

const startNode = (node, args, { stdio, ...options }) =>
  spawn(node.file, ['--require', TETHER, ...args], {
    env: { ...node.env, LAUNCHER_PID: String(process.pid) },
    stdio: [...stdio, 'pipe'],
    ...options,
  })

/** Calls `onSignal` for each signal that asks this process to stop. Returns a function that removes the handlers. */
const catchSignals = onSignal => {
  for (const signal of STOPPING) process.on(signal, onSignal)
  return () => {
    for (const signal of STOPPING) process.removeListener(signal, onSignal)
  }
}

/**
 * Runs one preparation step and writes its output to the file `log`. Returns the exit code, or null if a signal ended
 * the step. Forwards a signal to the whole step (npm and its children), and exits this process once the step has ended.
 */
export const runStep = (node, args, { cwd, log }) =>
  new Promise((resolve, reject) => {
    const output = openSync(log, 'w')
    const child = startNode(node, args, { cwd, stdio: ['ignore', output, output], detached: hasGroups })
    closeSync(output)
    let stoppedBy
    const release = catchSignals(signal => {
      stoppedBy = signal
      process.kill(hasGroups ? -child.pid : child.pid, signal)
    })
    child.once('error', error => {
      release()
      reject(error)
    })
    child.once('exit', code => {
      release()
      if (stoppedBy) process.exit(128 + constants.signals[stoppedBy])
      resolve(code)
    })
  })

/**
 * npm runs this process through a shell and signals only that shell, which dies without forwarding the signal. The
 * death of the shell is therefore treated as SIGTERM. Must be called at start-up.
 */
export const watchOverShell = () => {
  if (!isUnderNpm) return
  const { ppid } = process
  const look = setInterval(() => {
    if (process.ppid === ppid) return
    clearInterval(look)
    process.kill(process.pid, 'SIGTERM')
  }, SHELL_LOOK_MS)
  look.unref()
}

/**
 * Continues as Node running `args`; does not return. Replaces this process where the platform allows it and npm's shell
 * need not be watched. Otherwise a child inherits the standard streams, receives our signals, and sets our exit code.
 */
export const become = (node, args) => {
  if (process.execve && hasGroups && !isUnderNpm) {
    const command = [node.file, ...args]
    // In a container without an init, a shell becomes the first process and reaps orphans.
    if (process.pid === 1 && existsSync(SHELL)) process.execve(SHELL, [SHELL, INIT, ...command], node.env)
    process.execve(node.file, command, node.env)
  }
  const child = startNode(node, args, { stdio: ['inherit', 'inherit', 'inherit'] })
  const release = catchSignals(signal => {
    // Ctrl-C in a terminal reaches the child directly. A second SIGINT would mean "stop at once".
    if (signal !== 'SIGINT' || !isatty(0)) child.kill(signal)
  })
  child.once('error', error => {
    throw error
  })
  child.once('exit', (code, signal) => {
    release()
    if (signal) process.kill(process.pid, signal)
    else process.exit(code)
  })
}

export const logOf = (folder, step) => join(folder, `${step}.log`)
