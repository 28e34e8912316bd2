import { Command } from 'commander'
import { print } from './output.ts'
import { withServices } from './with-services.ts'

type Options = { email: string; password: string; operator?: boolean; organization?: string; json?: boolean }

const createCommand = (): Command =>
  new Command('create')
    .description('create an account; the first one becomes the operator and owns the first organization')
    .requiredOption('--email <address>', 'e-mail address')
    .requiredOption('--password <password>', 'password')
    .option('--operator', 'make this user an operator')
    .option('--organization <name>', 'organization to join; created with this user as owner if it does not exist')
    .option('--json', 'print one JSON value')
    .action(async ({ json, operator, ...input }: Options) => {
      const user = await withServices(services => services.accounts.createUser({ ...input, isOperator: operator }))
      print({ json }, user, [`Created ${user.email}${user.isOperator ? ', an operator' : ''} (${user.id}).`])
    })

const resetSecondFactorCommand = (): Command =>
  new Command('reset-second-factor')
    .description(
      'turn off two-factor authentication for a user who lost the app and recovery codes; ends their sessions',
    )
    .requiredOption('--email <address>', "the user's e-mail address")
    .option('--json', 'print one JSON value')
    .action(async ({ json, email }: { email: string; json?: boolean }) => {
      const user = await withServices(services => services.accounts.resetSecondFactorFor(email))
      print({ json }, user, [
        `Two-factor authentication for ${user.email} is off: the password alone is enough to sign in.`,
      ])
    })

export const userCommand = (): Command =>
  new Command('user').addCommand(createCommand()).addCommand(resetSecondFactorCommand())
