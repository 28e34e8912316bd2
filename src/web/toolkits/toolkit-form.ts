import { formText } from '../../lib/http/pages/forms.ts'
import { compareVersions, type Versions } from '../../lib/http/versions.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { mayRole, type Role } from '../../lib/kernel/roles.ts'
import type { Toolkit } from '../../tools/tool.ts'

/** What pages of toolkits ask of accounts: the names of one's organizations. */
export type Accounts = {
  getMe: (actor: Actor) => Promise<{ organizations: readonly { id: string; name: string; role: Role }[] }>
}

/** What people type of a toolkit, as they typed it. */
export const TOOLKIT_FORM = { title: formText, description: formText, visibility: formText }
export type TypedToolkit = { title: string; description: string; visibility: string }

export const TOOLKIT_LABELS = { title: 'title', description: 'description', visibility: 'visibility' }

export const VISIBILITY_OPTIONS = [
  { value: 'private', text: 'Private: only its organization' },
  { value: 'public', text: 'Public: everybody, in the gallery' },
] as const

export const typedOf = ({ title, description, visibility }: Toolkit): TypedToolkit => ({
  title,
  description: description ?? '',
  visibility,
})

/** What is typed beside what somebody else has saved meanwhile. */
export const toVersions = (mine: TypedToolkit, theirs: TypedToolkit): Versions =>
  compareVersions([
    { label: 'Title', mine: mine.title, theirs: theirs.title },
    { label: 'Description', mine: mine.description, theirs: theirs.description },
    { label: 'Who sees it', mine: mine.visibility, theirs: theirs.visibility },
  ])

/** Browsers send line ends as CR LF, whatever was typed. */
export const descriptionOf = (typed: string): string | undefined => {
  const text = typed.replaceAll('\r\n', '\n').trim()
  return text === '' ? undefined : text
}

/** Organizations that the actor may make something in, as options. Throws `forbidden` where there is none. */
export const buildableOptions = async (
  accounts: Accounts,
  actor: Actor,
): Promise<{ value: string; text: string }[]> => {
  const { organizations } = await accounts.getMe(actor)
  const options = organizations.filter(({ role }) => mayRole(role, 'build'))
  if (options.length > 0) return options.map(({ id, name }) => ({ value: id, text: name }))
  throw new AppError('forbidden', 'Making things takes an organization in which your role is builder, admin or owner.')
}
