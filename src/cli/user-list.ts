import type { AccountService } from '../identity/accounts.service.ts'

const PER_PAGE = 500

/** Reads all accounts whose email contains `search`, oldest first. */
export const readUserList = async ({ listUsers }: Pick<AccountService, 'listUsers'>, search = '') => {
  const users: Awaited<ReturnType<typeof listUsers>> = []
  for (let afterId: string | undefined; ; ) {
    const found = await listUsers(search, { limit: PER_PAGE, afterId })
    const page = found.slice(0, PER_PAGE)
    users.push(...page)
    if (found.length <= PER_PAGE) return users
    afterId = page.at(-1)?.id
  }
}
