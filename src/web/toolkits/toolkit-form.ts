import type { AccountService } from '../../identity/accounts.service.ts'
import { formText } from '../../lib/http/pages/forms.ts'
import { compareVersions, type Versions } from '../../lib/http/versions.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { mayRole } from '../../lib/kernel/roles.ts'
import type { Toolkit } from '../../tools/tool.ts'

export type Accounts = Pick<AccountService, 'getMe'>

export const TOOLKIT_FORM = { title: formText, description: formText, visibility: formText }
export type ToolkitForm = { title: string; description: string; visibility: string }

export const TOOLKIT_LABELS = { title: 'title', description: 'description', visibility: 'visibility' }

export const VISIBILITY_OPTIONS = [
  { value: 'private', text: 'Private: members of the organization' },
  { value: 'public', text: 'Public: everyone, in the gallery' },
] as const

export const toToolkitForm = ({ title, description, visibility }: Toolkit): ToolkitForm => ({
  title,
  description: description ?? '',
  visibility,
})

/** Compares the form with the version that someone else has saved. */
export const toVersions = (mine: ToolkitForm, theirs: ToolkitForm): Versions =>
  compareVersions([
    { label: 'Title', mine: mine.title, theirs: theirs.title },
    { label: 'Description', mine: mine.description, theirs: theirs.description },
    { label: 'Visibility', mine: mine.visibility, theirs: theirs.visibility },
  ])

/** Returns the description with normalized line breaks, because browsers send them as CR LF. */
export const descriptionOf = (typed: string): string | undefined => {
  const text = typed.replaceAll('\r\n', '\n').trim()
  return text === '' ? undefined : text
}

type Option = { value: string; text: string }

/** Returns, as options, the organizations in which the actor may build. Throws `forbidden` if there are none. */
export const buildableOptions = async (accounts: Accounts, actor: Actor): Promise<[Option, ...Option[]]> => {
  const { organizations } = await accounts.getMe(actor)
  const [first, ...others] = organizations
    .filter(({ role }) => mayRole(role, 'build'))
    .map(({ id, name }) => ({ value: id, text: name }))
  if (first !== undefined) return [first, ...others]
  throw new AppError('forbidden', 'You need the role builder, admin or owner in an organization.')
}
