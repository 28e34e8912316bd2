import type { Database } from '../lib/db/client.ts'
import { containing } from '../lib/db/containing.ts'
import { type IdPage, idPageQuery } from '../lib/http/id-paging.ts'

/** An account as the operator sees it. */
export type ListedUser = {
  id: string
  email: string
  isVerified: boolean
  isOperator: boolean
  /** Undefined if the account is not suspended. */
  suspendedReason: string | undefined
  createdAt: Date
  /** The oldest memberships. `moreOrganizations` is the number of further ones. */
  organizations: readonly { name: string; role: string }[]
  moreOrganizations: number
}

const MAX_ORGANIZATIONS_NAMED = 3

/** Lists all accounts, oldest first. `search` filters by email. For the operator only. */
export const listAllUsers = async (db: Database, search: string, page: IdPage): Promise<ListedUser[]> => {
  const rows = await db.user.findMany({
    ...idPageQuery(page, { ...(search !== '' && { email: containing(db, search) }) }),
    select: {
      id: true,
      email: true,
      emailVerifiedAt: true,
      isOperator: true,
      suspendedReason: true,
      createdAt: true,
      memberships: {
        select: { role: true, organization: { select: { name: true } } },
        orderBy: { id: 'asc' },
        take: MAX_ORGANIZATIONS_NAMED,
      },
      _count: { select: { memberships: true } },
    },
  })
  return rows.map(({ memberships, emailVerifiedAt, suspendedReason, _count, ...row }) => ({
    ...row,
    suspendedReason: suspendedReason ?? undefined,
    isVerified: emailVerifiedAt !== null,
    organizations: memberships.map(({ role, organization }) => ({ name: organization.name, role })),
    moreOrganizations: Math.max(0, _count.memberships - MAX_ORGANIZATIONS_NAMED),
  }))
}

export const countAllUsers = (db: Database): Promise<number> => db.user.count()
