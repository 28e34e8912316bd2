import { Command, InvalidArgumentError } from 'commander'
import { z } from 'zod'
import { SCOPES, type Scope } from '../kernel/index.ts'
import { print } from './output.ts'
import { withServices } from './with-services.ts'

type Options = { email: string; name: string; scopes?: Scope[]; expiresInDays?: number; json?: boolean }

const toScopes = (text: string): Scope[] => {
  const parsed = z
    .array(z.enum(SCOPES))
    .min(1)
    .safeParse(text.split(',').map(part => part.trim()))
  if (!parsed.success) throw new InvalidArgumentError(`They are a comma-separated list out of ${SCOPES.join(', ')}.`)
  return parsed.data
}

const toDays = (text: string): number => {
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new InvalidArgumentError('It is a whole number of days.')
  return Number(text)
}

const createCommand = (): Command =>
  new Command('create')
    .description('make a personal access token and print it, once')
    .requiredOption('--email <address>', 'whose token it is')
    .requiredOption('--name <name>', 'what it is for')
    .option('--scopes <list>', 'out of read, write and mcp, comma-separated (all three)', toScopes)
    .option('--expires-in-days <days>', 'how long it is good for', toDays)
    .option('--json', 'print one JSON value')
    .action(async ({ json, email, ...wish }: Options) => {
      const token = await withServices(services => services.accounts.createTokenFor(email, wish))
      print({ json }, token, [token.token])
    })

export const tokenCommand = (): Command =>
  new Command('token').description('personal access tokens').addCommand(createCommand())
