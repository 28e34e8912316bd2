import { Command } from 'commander'
import { SuspensionView } from '../suspensions/suspensions.schema.ts'
import { print } from './output.ts'
import { readUserList } from './user-list.ts'
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

type ForUser = { email: string; json?: boolean }

const resetPasswordCommand = (): Command =>
  new Command('reset-password')
    .description('print a link with which a user sets a new password, or set the password; ends their sessions')
    .requiredOption('--email <address>', "the user's e-mail address")
    .option(
      '--password <password>',
      'the new password; without it, a link that works once, for half an hour, is printed',
    )
    .option('--json', 'print one JSON value')
    .action(async ({ json, email, password }: ForUser & { password?: string }) => {
      if (password === undefined) {
        const link = await withServices(({ accounts }) => accounts.createResetLink(email))
        print({ json }, { link }, [link])
        return
      }
      const user = await withServices(({ accounts }) => accounts.setPasswordOf(email, { password }))
      print({ json }, { email: user.email }, [`The password of ${user.email} is set, and their sessions have ended.`])
    })

const listCommand = (): Command =>
  new Command('list')
    .description('list all accounts, oldest first')
    .option('--search <text>', 'part of the e-mail address')
    .option('--json', 'print one JSON value')
    .action(async ({ json, search }: { json?: boolean; search?: string }) => {
      const users = await withServices(({ accounts }) => readUserList(accounts, search))
      const lines = users.map(({ email, isOperator, suspendedReason }) =>
        [email, isOperator && 'operator', suspendedReason && `disabled: ${suspendedReason}`].filter(Boolean).join('  '),
      )
      print(
        { json },
        users.map(user => ({ ...user, suspendedReason: user.suspendedReason ?? null })),
        lines.length > 0 ? lines : ['No account found.'],
      )
    })

const disableCommand = (): Command =>
  new Command('disable')
    .description('suspend a user: sign them out, and refuse their tokens and sign-ins')
    .requiredOption('--email <address>', "the user's e-mail address")
    .requiredOption('--reason <text>', 'why; the user is told')
    .option('--json', 'print one JSON value')
    .action(async ({ json, email, reason }: ForUser & { reason: string }) => {
      const suspension = await withServices(async ({ accounts, suspensionService }) =>
        suspensionService.suspend(undefined, 'user', (await accounts.getUserByEmail(email)).id, { reason }),
      )
      print({ json }, SuspensionView.parse(suspension), [`Disabled ${suspension.name}.`])
    })

const restoreCommand = (): Command =>
  new Command('restore')
    .description('restore a disabled user; their tokens work again')
    .requiredOption('--email <address>', "the user's e-mail address")
    .option('--json', 'print one JSON value')
    .action(async ({ json, email }: ForUser) => {
      const user = await withServices(async ({ accounts, suspensionService }) => {
        const found = await accounts.getUserByEmail(email)
        await suspensionService.restore(undefined, 'user', found.id)
        return found
      })
      print({ json }, { email: user.email }, [`Restored ${user.email}.`])
    })

export const userCommand = (): Command =>
  new Command('user')
    .addCommand(createCommand())
    .addCommand(listCommand())
    .addCommand(disableCommand())
    .addCommand(restoreCommand())
    .addCommand(resetPasswordCommand())
    .addCommand(resetSecondFactorCommand())
