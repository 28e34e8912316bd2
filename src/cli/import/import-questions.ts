import { confirm, multiselect, password, select, text } from '@clack/prompts'
import type { ConfigVariable } from '../config-files/index.ts'
import { AppError } from '../kernel/index.ts'
import { printable } from './printable.ts'

const FEATURES = ['tools', 'resources', 'prompts'] as const
export type Feature = (typeof FEATURES)[number]

const stopped = (): AppError => new AppError('invalid_request', 'Nothing was taken: you stopped it.')

const isAnswer = <T>(answer: T): answer is Exclude<T, symbol> => typeof answer !== 'symbol'

/** What somebody at a terminal said; Ctrl-C and Escape end the command. */
const answered = <T>(answer: T): Exclude<T, symbol> => {
  if (isAnswer(answer)) return answer
  throw stopped()
}

export const askWhich = async (drafts: readonly { label: string; hint: string; isOn: boolean }[]): Promise<number[]> =>
  answered(
    await multiselect({
      message: 'Which MCP servers are to be taken?',
      options: drafts.map(({ label, hint }, value) => ({ value, label: printable(label), hint: printable(hint) })),
      initialValues: drafts.flatMap(({ isOn }, at) => (isOn ? at : [])),
      required: true,
    }),
  )

export const askFeatures = async (): Promise<readonly Feature[]> =>
  answered(
    await multiselect({
      message: 'What of them is to be passed on?',
      options: FEATURES.map(value => ({ value, label: value })),
      initialValues: [...FEATURES],
      required: true,
    }),
  )

export const askEmail = async (): Promise<string> =>
  answered(await text({ message: 'Whose account is it for? Its e-mail address:' }))

const NEW = ''

/** Answers the id of a server, or a name for a new one. */
export const askServer = async (
  servers: readonly { id: string; name: string }[],
): Promise<{ id: string } | { name: string }> => {
  const id = answered(
    await select({
      message: 'Which server is to hold them?',
      options: [
        ...servers.map(server => ({ value: server.id, label: printable(server.name), hint: printable(server.id) })),
        { value: NEW, label: 'A new server' },
      ],
    }),
  )
  if (id !== NEW) return { id }
  return { name: answered(await text({ message: 'What is it to be called?', initialValue: 'My tools' })) }
}

export const askForEnvironment = async (names: readonly string[]): Promise<boolean> =>
  answered(
    await confirm({ message: printable(`Take the values of ${names.join(', ')} from where this terminal has them?`) }),
  )

/** Undefined: it is given later, on the server's page. */
export const askForValue = async (
  { name, about, fallback }: ConfigVariable,
  isSecret: boolean,
): Promise<string | undefined> => {
  const message = printable(`${about ?? name} (${isSecret ? 'a secret, hidden as you type; ' : ''}empty: later)`)
  const answer = answered(
    isSecret ? await password({ message }) : await text({ message, initialValue: printable(fallback ?? '') }),
  )
  return answer === undefined || answer === '' ? undefined : answer
}

/** `origin`: where their values go as well, secrets too. */
export const askWhetherToGoOn = async (count: number, server: string, origin: string): Promise<void> => {
  const message = printable(`Attach ${count} to "${server}" at ${origin}, with the values that they need?`)
  if (!answered(await confirm({ message }))) throw stopped()
}
