/** Runs the command of a package in a folder of its own, which is also its home. */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const MODULES = join(import.meta.dirname, 'node_modules')

export const commandOf = name => {
  const { bin } = JSON.parse(readFileSync(join(MODULES, name, 'package.json'), 'utf8'))
  const short = name.split('/').at(-1)
  const path = typeof bin === 'string' ? bin : (bin[short] ?? Object.values(bin)[0])
  return join(MODULES, name, path)
}

const writeFiles = (folder, files) => {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
}

/** Returns what the command printed to standard output, or to both outputs. Throws what it printed if it failed. */
export const runProgram = async (name, args, { files = {}, env = {}, withErrors = false } = {}) => {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-client-'))
  try {
    writeFiles(folder, files)
    const command = commandOf(name)
    const isScript = /^#!.*node/.test(readFileSync(command, 'latin1').slice(0, 100)) || /\.[cm]?js$/.test(command)
    const [file, ...rest] = isScript ? [process.execPath, command, ...args] : [command, ...args]
    const child = spawn(file, rest, {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: folder, NO_COLOR: '1', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    let errors = ''
    child.stdout.on('data', chunk => (output += chunk))
    child.stderr.on('data', chunk => (errors += chunk))
    const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve))
    if (code !== 0) throw new Error(`${name} ${args.join(' ')}: exit ${code}\n${output}${errors}`)
    return withErrors ? output + errors : output
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
