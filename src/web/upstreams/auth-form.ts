import { formText } from '../../lib/http/pages/forms.ts'
import type { AuthInput } from '../../upstreams/config/auth-input.ts'
import type { UpstreamAuth } from '../../upstreams/upstream.ts'

/** Fields of an upstream's form that define how to authorize. */
export const AuthForm = { auth: formText, clientId: formText, clientSecret: formText, scopes: formText }
export type TypedAuth = Record<keyof typeof AuthForm, string>

export const AUTH_LABELS = {
  auth: 'authentication',
  clientId: 'client ID',
  clientSecret: 'client secret',
  scopes: 'scope',
}

export const NEW_AUTH: TypedAuth = { auth: 'none', clientId: '', clientSecret: '', scopes: '' }

/** Returns the form fields for the account setting, without the secret. */
export const typedAuthOf = (auth: UpstreamAuth): TypedAuth =>
  auth.type === 'none'
    ? NEW_AUTH
    : { auth: auth.per, clientId: auth.clientId ?? '', clientSecret: '', scopes: auth.scopes?.join(' ') ?? '' }

/** Reads the form fields. If the secret is empty, the stored secret stays unchanged. */
export const readAuth = ({ auth, clientId, clientSecret, scopes }: TypedAuth): AuthInput | undefined => {
  // If the field is missing, the setting stays unchanged, because connected accounts depend on it.
  if (auth === '') return undefined
  if (auth !== 'server' && auth !== 'caller') return { type: 'none' }
  const wanted = scopes
    .trim()
    .split(/\s+/)
    .filter(scope => scope !== '')
  return {
    type: 'oauth',
    per: auth,
    clientId: clientId.trim() === '' ? null : clientId.trim(),
    scopes: wanted.length === 0 ? null : wanted,
    ...(clientSecret !== '' && { clientSecret }),
  }
}

const CHOICES = [
  ['none', 'None, or headers', 'If it needs credentials, add them as headers.'],
  ['server', 'OAuth, one shared account', 'You connect it once, and all callers use it.'],
  [
    'caller',
    'OAuth, each caller’s own account',
    'Each caller connects an account once, through a link in the result of their first call.',
  ],
] as const

/** Returns the choices for the form field `auth`. */
export const toAuthChoices = (typed: TypedAuth) => {
  const chosen = CHOICES.some(([value]) => value === typed.auth) ? typed.auth : 'none'
  return CHOICES.map(([value, text, hint]) => ({ value, text, hint, isChosen: value === chosen }))
}

/** Returns the label of the chosen account setting. */
export const toAuthText = (auth: UpstreamAuth): string => {
  const { auth: value } = typedAuthOf(auth)
  return CHOICES.find(([each]) => each === value)?.[1] ?? ''
}
