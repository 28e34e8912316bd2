/** The built checkouts of Patchbay that a run measures: this one and, with `--against`, another one. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

export type Checkout = {
  name: 'this' | 'other'
  root: string
  /** The arguments for Node: the flags that this checkout's own launcher sets, followed by the built program. */
  command: readonly string[]
  env: Record<string, string>
}

const OWN_ROOT = fileURLToPath(new URL('..', import.meta.url))

/**
 * Runs the launcher, which builds whatever is missing or outdated. The variables that npm sets are left out because
 * they change the launcher's behavior.
 */
const build = (root: string): void => {
  const { PATH, HOME, TMPDIR } = process.env
  const { status } = spawnSync(process.execPath, [join(root, 'bin/patchbay'), '--version'], {
    env: { PATH, HOME, TMPDIR },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  if (status !== 0) throw new Error(`${root} is not a checkout of Patchbay that can be built`)
}

const readCheckout = async (name: Checkout['name'], root: string): Promise<Checkout> => {
  build(root)
  const tasks: typeof import('../bin/launcher/tasks.mjs') = await import(
    pathToFileURL(join(root, 'bin/launcher/tasks.mjs')).href
  )
  return { name, root, command: tasks.commandOf('command', root), env: tasks.environmentOf('command', root) }
}

/** Returns the checkout with its sources as the program, so that a profile names their files and functions. */
export const fromSource = ({ command, ...checkout }: Checkout): Checkout => ({
  ...checkout,
  command: [...command.slice(0, -1), join(checkout.root, 'src/cli/main.ts')],
})

/** Returns the checkouts to measure. Throws if one of them cannot be built. */
export const readCheckouts = async (against: string | undefined): Promise<[own: Checkout, other?: Checkout]> => {
  const own = await readCheckout('this', OWN_ROOT)
  return against === undefined ? [own] : [own, await readCheckout('other', against)]
}

/** Reverses the order every second round, so that no checkout is always measured first. */
export const inTurn = <T>(items: readonly T[], round: number): readonly T[] =>
  round % 2 === 0 ? items.toReversed() : items
