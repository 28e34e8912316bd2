// Adds packages to package-lock.json that npm leaves out if its registry lacks a package for another platform (a
// mirror, or an incomplete release). npm writes such a lock file without a warning, and `npm ci` then rejects it
// ("Missing: … from lock file"). Run this script after `npm install` when test/architecture asks for it.
import { readFileSync, writeFileSync } from 'node:fs'

type Locked = {
  version?: string
  dev?: boolean
  license?: string
  optionalDependencies?: Record<string, string>
  [field: string]: unknown
}
export type Lock = { packages: Record<string, Locked>; [field: string]: unknown }

const SYSTEMS = ['android', 'darwin', 'freebsd', 'linux', 'openharmony', 'win32']
const PROCESSORS = ['arm64', 'arm', 'ia32', 'ppc64', 'riscv64', 's390x', 'x64']

/** Derives a package's platform fields in package.json from its name (such as `@swc/core-linux-arm-gnueabihf`). */
const platformOf = (name: string) => {
  const words = name.slice(name.indexOf('/') + 1).split('-')
  const os = words.filter(word => SYSTEMS.includes(word))
  const cpu = words.filter(word => PROCESSORS.includes(word))
  if (os.length !== 1 || cpu.length !== 1) return undefined
  const libc = words.some(word => word.startsWith('musl')) ? ['musl'] : ['glibc']
  return os[0] === 'linux' ? { cpu, libc, os } : { cpu, os }
}

/** Returns whether the lock file contains `name` where Node would find it from the package at `from`. */
const isLocked = (lock: Lock, from: string, name: string): boolean => {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    if (lock.packages[`${at === '' ? '' : `${at}/`}node_modules/${name}`]) return true
    if (at === '') return false
  }
}

/**
 * Returns the optional packages that the lock refers to but does not contain, each with the package that refers to it.
 */
export const missingFromLock = (lock: Lock): { name: string; version: string; parent: string }[] =>
  Object.entries(lock.packages).flatMap(([parent, { optionalDependencies = {} }]) =>
    Object.entries(optionalDependencies)
      .filter(([name]) => !isLocked(lock, parent, name))
      .map(([name, version]) => ({ name, version, parent })),
  )

if (import.meta.main) {
  const lock: Lock = JSON.parse(readFileSync('package-lock.json', 'utf8'))
  for (const { name, version, parent } of missingFromLock(lock)) {
    const platform = platformOf(name)
    if (!platform || !/^\d/.test(version)) throw new Error(`cannot tell what to lock for ${name}@${version}`)
    const { dev, license } = lock.packages[parent] ?? {}
    lock.packages[`node_modules/${name}`] = {
      version,
      cpu: platform.cpu,
      ...(dev && { dev }),
      ...(platform.libc && { libc: platform.libc }),
      ...(license && { license }),
      optional: true,
      os: platform.os,
    }
    console.log(`added ${name}@${version}`)
  }
  lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => a.localeCompare(b, 'en')))
  writeFileSync('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`)
}
