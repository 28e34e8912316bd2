import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { basename, delimiter, dirname, join } from 'node:path'
import { Fault } from './fault.mjs'
import { runStep } from './processes.mjs'

/**
 * Finds npm's own script, so that the chosen Node can run it. With its `#!` line, the script would run on whichever
 * Node is first on the PATH.
 */
const findNpm = () => {
  const { npm_execpath: caller = '', PATH = '' } = process.env
  const windows = process.platform === 'win32'
  const candidates = [
    ...(/^np[mx]-cli\.[cm]?js$/.test(basename(caller)) ? [join(dirname(caller), 'npm-cli.js')] : []),
    join(dirname(process.execPath), windows ? '.' : '../lib', 'node_modules/npm/bin/npm-cli.js'),
    ...PATH.split(delimiter).map(folder => join(folder, windows ? 'node_modules/npm/bin/npm-cli.js' : 'npm')),
  ]
  for (const candidate of candidates) {
    if (!existsSync(candidate)) continue
    const script = realpathSync(candidate)
    if (basename(script) === 'npm-cli.js') return script
  }
  throw new Fault('npm was not found on the PATH; it comes with Node.js: install Node.js from https://nodejs.org')
}

/** Patterns in npm's output, most specific first, each with its cause and what to do. */
const REASONS = [
  [/ENOSPC/, 'the disk is full: free some space'],
  [/EROFS|EACCES|EPERM/, 'a file or folder cannot be written: run as the owner of this checkout and of ~/.npm'],
  [/in sync/, 'package-lock.json does not match package.json: run npm install'],
  [/E404|ETARGET|notarget/, 'the registry lacks a package: check `npm config get registry`'],
  [
    /EINTEGRITY/,
    'a package does not match its checksum in package-lock.json: run npm cache clean --force and try again',
  ],
  [
    /CERT|SELF_SIGNED|UNABLE_TO_/,
    "the registry's certificate is not trusted: set NODE_EXTRA_CA_CERTS to your network's certificate authority",
  ],
  [
    /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT|EIDLETIMEOUT/,
    'the npm registry cannot be reached: check the network, the proxy and `npm config get registry`',
  ],
  [/E401|E403|E5\d\d/, 'the npm registry refused the request: check `npm config get registry` and its credentials'],
]

const reasonIn = output => {
  const errors = output.split('\n').filter(line => line.startsWith('npm error') || line.startsWith('npm ERR!'))
  return REASONS.find(([sign]) => errors.some(line => sign.test(line)))?.[1]
}

/** Runs npm with `node`. `purpose` completes the error line "Cannot …". */
export const runNpm = async (node, args, { cwd, log, purpose }) => {
  const code = await runStep(node, [findNpm(), ...args], { cwd, log })
  if (code === 0) return
  const reason = reasonIn(readFileSync(log, 'utf8')) ?? `npm ended with ${code ?? 'a signal'}: see its output`
  throw new Fault(`cannot ${purpose}: ${reason} (npm's output: ${log})`)
}
