import { Command, InvalidArgumentError } from 'commander'
import { z } from 'zod'
import { SCOPES, type Scope } from '../lib/kernel/actor.ts'
import { print } from './output.ts'
import { withServices } from './with-services.ts'

type Options = { email: string; name: string; scopes?: Scope[]; expiresInDays?: number; json?: boolean }

const toScopes = (text: string): Scope[] => {
  const parsed = z
    .array(z.enum(SCOPES))
    .min(1)
    .safeParse(text.split(',').map(part => part.trim()))
  if (!parsed.success) throw new InvalidArgumentError(`Give a comma-separated list of ${SCOPES.join(', ')}.`)
  return parsed.data
}

const toDays = (text: string): number => {
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new InvalidArgumentError('Give a whole number of days.')
  return Number(text)
}

const createCommand = (): Command =>
  new Command('create')
    .description('create a personal access token and print it once')
    .requiredOption('--email <address>', "the user's e-mail address")
    .requiredOption('--name <name>', 'a name that says what it is for')
    .option('--scopes <list>', 'comma-separated list of read, write, mcp (default: all)', toScopes)
    .option('--expires-in-days <days>', 'days until it expires', toDays)
    .option('--json', 'print one JSON value')
    .action(async ({ json, email, ...input }: Options) => {
      const token = await withServices(services => services.accounts.createTokenFor(email, input))
      print({ json }, token, [token.token])
    })

export const tokenCommand = (): Command => new Command('token').addCommand(createCommand())
