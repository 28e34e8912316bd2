import { Command } from 'commander'
import { print } from './output.ts'
import { withServices } from './with-services.ts'

type Options = { email: string; password: string; operator?: boolean; organization?: string; json?: boolean }

const createCommand = (): Command =>
  new Command('create')
    .description('make an account; the very first one is the operator and owns the first organization')
    .requiredOption('--email <address>', 'e-mail address')
    .requiredOption('--password <password>', 'password')
    .option('--operator', 'make this user an operator')
    .option('--organization <name>', 'organization to join, made with this user as owner if it is not there')
    .option('--json', 'print one JSON value')
    .action(async ({ json, operator, ...input }: Options) => {
      const user = await withServices(services => services.accounts.createUser({ ...input, isOperator: operator }))
      print({ json }, user, [`Made ${user.email}${user.isOperator ? ', an operator' : ''} (${user.id}).`])
    })

const resetSecondFactorCommand = (): Command =>
  new Command('reset-second-factor')
    .description('remove the second factor of who has lost the app and the recovery codes; ends all their sessions')
    .requiredOption('--email <address>', 'whose it is')
    .option('--json', 'print one JSON value')
    .action(async ({ json, email }: { email: string; json?: boolean }) => {
      const user = await withServices(services => services.accounts.resetSecondFactorFor(email))
      print({ json }, user, [`The second factor of ${user.email} is removed: the password alone signs in now.`])
    })

export const userCommand = (): Command =>
  new Command('user').description('accounts').addCommand(createCommand()).addCommand(resetSecondFactorCommand())
