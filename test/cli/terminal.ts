import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { onTestFinished } from 'vitest'
import { compileCache } from '../support/compile-cache.ts'
import { follow, PROGRAM } from '../support/process.ts'

/** The program that gives a command a terminal, used with its Linux arguments. */
const TERMINAL = '/usr/bin/script'

const quoted = (text: string): string => `'${text}'`

/** Runs the command in a terminal and answers each question once it appears. */
export const talk = async (
  args: readonly string[],
  { directory, env }: { directory: string; env: NodeJS.ProcessEnv },
  answers: readonly (readonly [question: string, keys: string])[],
): Promise<string> => {
  const command = [process.execPath, PROGRAM, ...args].map(quoted).join(' ')
  const child = spawn(TERMINAL, ['-qefc', `stty cols 120 rows 40; ${command}`, '/dev/null'], {
    cwd: directory,
    env: { PATH: process.env.PATH, TERM: 'xterm', ...compileCache(), ...env },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const running = follow(child)
  onTestFinished(async () => {
    running.kill('SIGKILL')
    await running.ended
  })
  for (const [question, keys] of answers) {
    await running.said(question)
    child.stdin.write(keys)
  }
  return (await running.ended).stdout
}

export const ENTER = '\r'
export const DOWN = '\u001b[B'

export const hasTerminal = process.platform === 'linux' && existsSync(TERMINAL)
