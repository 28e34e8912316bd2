import { type CANCEL_SYMBOL, confirm, isCancel, multiselect, password, select, text } from '@clack/prompts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { ConfigVariable } from '../config-files/config-text.ts'
import { printable } from '../output.ts'

export const FEATURES = ['tools', 'resources', 'prompts'] as const
export type Feature = (typeof FEATURES)[number]

const cancelled = (): AppError => new AppError('invalid_request', 'Import cancelled. Nothing was imported.')

/** Returns the answer given in the terminal. Throws on Ctrl-C or Escape, which ends the command. */
const answered = <T>(answer: T | typeof CANCEL_SYMBOL): T => {
  if (isCancel(answer)) throw cancelled()
  return answer
}

export const askWhich = async (drafts: readonly { label: string; hint: string; isOn: boolean }[]): Promise<number[]> =>
  answered(
    await multiselect({
      message: 'Which MCP servers do you want to import?',
      options: drafts.map(({ label, hint }, value) => ({ value, label: printable(label), hint: printable(hint) })),
      initialValues: drafts.flatMap(({ isOn }, at) => (isOn ? at : [])),
      required: true,
    }),
  )

export const askFeatures = async (): Promise<readonly Feature[]> =>
  answered(
    await multiselect({
      message: 'Which features do you want to pass on?',
      options: FEATURES.map(value => ({ value, label: value })),
      initialValues: [...FEATURES],
      required: true,
    }),
  )

export const askEmail = async (): Promise<string> =>
  answered(await text({ message: 'Email of the account to import into:' }))

const NEW = ''

/** Asks for a server. Returns the id of an existing one or the name for a new one. */
export const askServer = async (
  servers: readonly { id: string; name: string }[],
): Promise<{ id: string } | { name: string }> => {
  const id = answered(
    await select({
      message: 'Which server do you want to add them to?',
      options: [
        ...servers.map(server => ({ value: server.id, label: printable(server.name), hint: printable(server.id) })),
        { value: NEW, label: 'A new server' },
      ],
    }),
  )
  if (id !== NEW) return { id }
  return { name: answered(await text({ message: 'Name of the new server:', initialValue: 'My tools' })) }
}

export const askForEnvironment = async (names: readonly string[]): Promise<boolean> =>
  answered(
    await confirm({ message: printable(`Use the values of ${names.join(', ')} from this terminal's environment?`) }),
  )

/** Asks for a value. Returns undefined if it will be set later, on the server's page. */
export const askForValue = async (
  { name, about, fallback }: ConfigVariable,
  isSecret: boolean,
): Promise<string | undefined> => {
  const message = printable(
    `${about ?? name} (${isSecret ? 'secret, input is hidden; ' : ''}leave empty to set it later)`,
  )
  const answer = answered(
    isSecret ? await password({ message }) : await text({ message, initialValue: printable(fallback ?? '') }),
  )
  return answer === undefined || answer === '' ? undefined : answer
}

/** Asks for confirmation. Shows `origin`, because the values, including secrets, are sent there. */
export const confirmImport = async (count: number, server: string, origin: string): Promise<void> => {
  const message = printable(`Attach ${count} MCP servers to "${server}" at ${origin}, including their values?`)
  if (!answered(await confirm({ message }))) throw cancelled()
}

/** Asks for a secret of an API. Returns undefined if it will be set later, on the server's page. */
export const askForSecret = async ({
  key,
  asks,
  origins,
}: {
  key: string
  asks: string | null
  origins: readonly string[]
}): Promise<string | undefined> => {
  const what = asks === 'basic' ? 'user:password' : (asks ?? 'secret')
  const destination = origins.length === 0 ? '' : ` for ${origins.join(', ')}`
  const message = printable(`${key} (${what}${destination}; input is hidden; leave empty to set it later)`)
  const answer = answered(await password({ message }))
  return answer === undefined || answer === '' ? undefined : answer
}

/** Asks for confirmation of an import. Shows `origin`, because the values of secrets are sent there. */
export const confirmTools = async (count: number, toolkit: string, origin: string): Promise<void> => {
  const message = printable(`Import ${count} tools into "${toolkit}" at ${origin}?`)
  if (!answered(await confirm({ message }))) throw cancelled()
}
