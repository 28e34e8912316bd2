import type { FormPage } from '../../lib/http/pages/forms.ts'
import { formatCount, shorten } from '../../lib/kernel/format.ts'
import { type Becomes, chosenSecrets, type PastedForm, urlOfForm } from './pasted-form.ts'
import { serverNameFor } from './request-server.ts'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']

const CHOICES: Readonly<Record<Becomes, string>> = {
  model: 'From the model',
  fixed: 'A fixed value',
  secret: 'A secret',
}
const OPTIONS = Object.entries(CHOICES).map(([value, text]) => ({ value, text }))
const OFFERED_OPTIONS = OPTIONS.filter(({ value }) => value !== 'fixed')

/** Longer values are cut on the page. */
const MAX_SHOWN_CHARS = 80

const toRows = ({ draft, becomes }: PastedForm) =>
  draft.candidates.map(({ name, place, value }, index) => ({
    id: `becomes:${index}`,
    name,
    where: place,
    value: value === '' ? 'empty' : shorten(value, MAX_SHOWN_CHARS),
    becomes: becomes[index],
    options: OPTIONS,
  }))

/** Values that may be secrets are not shown. */
const toOfferedRows = ({ draft, accepted }: PastedForm) =>
  draft.secrets.flatMap(({ parameter, where, isOffered }) =>
    isOffered
      ? {
          id: `offered:${parameter}`,
          name: parameter,
          where,
          value: undefined,
          becomes: accepted.has(parameter) ? 'secret' : 'model',
          options: OFFERED_OPTIONS,
        }
      : [],
  )

const toSecretFields = (form: PastedForm, held: ReadonlyMap<string, string>) =>
  chosenSecrets(form).map(({ parameter, where }) => {
    const isHeld = (held.get(parameter) ?? '') !== ''
    return {
      id: `secret:${parameter}`,
      label: parameter,
      isRequired: !isHeld,
      hint: isHeld
        ? `From ${where}. Leave empty to use the value that you pasted.`
        : `For ${where}. Stored encrypted, and never shown to the model.`,
    }
  })

/** Returns the page for a pasted request. `held` are the held values of its secrets, which the page does not contain. */
export const toPastedPage = (
  form: PastedForm,
  held: ReadonlyMap<string, string>,
): Pick<FormPage, 'data' | 'labels'> => {
  const { draft, method, name, description } = form
  const secrets = toSecretFields(form, held)
  return {
    data: {
      title: 'Review the request',
      section: 'servers',
      source: draft.kind === 'curl' ? 'your cURL command' : 'your URL',
      draft: JSON.stringify(draft),
      held: form.held,
      method,
      methods: [...METHODS, ...(METHODS.includes(method) ? [] : [method])].map(value => ({ value, text: value })),
      sentUrl: urlOfForm(form),
      sentHeaders: draft.headers.map(header => `${header.name}: ${header.value}`).join('\n'),
      sentBody: draft.body ?? '',
      rows: [...toOfferedRows(form), ...toRows(form)],
      variables: draft.variables,
      secrets,
      secretsFound: secrets.length === 0 ? undefined : `${formatCount(secrets.length, 'secret')} found.`,
      notes: draft.notes,
      name,
      description,
      serverName: serverNameFor(draft.url),
    },
    labels: {
      name: 'name',
      description: 'description',
      method: 'method',
      ...Object.fromEntries(draft.secrets.map(({ parameter }) => [`secret:${parameter}`, `value of ${parameter}`])),
    },
  }
}
