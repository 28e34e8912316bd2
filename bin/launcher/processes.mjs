import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { isatty } from 'node:tty'
import { fileURLToPath } from 'node:url'

const TETHER = fileURLToPath(new URL('tether.cjs', import.meta.url))
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

/** Calls `onSignal` for each signal that asks this process to stop; gives a function that ends this. */
const catchSignals = onSignal => {
  for (const signal of STOPPING) process.on(signal, onSignal)
  return () => {
    for (const signal of STOPPING) process.removeListener(signal, onSignal)
  }
}

/**
 * Runs one step of preparation to its end, its output in the file `log`. Gives the exit code, null if a signal ended it.
 * A signal to us goes to the whole step (npm and what npm started), and ends us when that has ended.
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
 * npm gives a signal to the shell between it and us, which dies of it and tells nobody: so its death counts as SIGTERM.
 * To be called at start, for all that follows.
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
 * Goes on as Node running `args`; does not return. Where a process can become another and need not watch over npm's
 * shell, it does just that; elsewhere a child runs with our standard streams, gets our signals, and its end is ours.
 */
export const become = (node, args) => {
  if (process.execve && hasGroups && !isUnderNpm) process.execve(node.file, [node.file, ...args], node.env)
  const child = startNode(node, args, { stdio: ['inherit', 'inherit', 'inherit'] })
  const release = catchSignals(signal => {
    // Ctrl-C in a terminal reaches the child by itself: twice would mean "at once".
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
