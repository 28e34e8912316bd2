import { isJsonObject, parseIfJson, someValue } from '../../lib/kernel/json.ts'
import type { CheckedParameter } from '../../templates/compile-parameters.ts'
import { AUTHENTICATION_SCHEME, looksSecret } from '../../tools/secret-looks.ts'
import { secretRuleOf, secretRuleOfParameter } from '../../tools/secret-parameters.ts'

/** Longer values are typed too rarely to keep them, and a browser keeps a few megabytes in all. */
const MAX_KEPT_CHARACTERS = 10_000

const looksSecretText = (text: string): boolean =>
  AUTHENTICATION_SCHEME.test(text) || looksSecret(text) || text.split(/[^\w.-]+/).some(looksSecret)

const isSecretMember = (name: string): boolean => secretRuleOf({ place: 'body', name }) !== 'none'

/** Returns whether a URL or form has a parameter that may be a secret, by its name. */
const hasSecretPair = (text: string): boolean =>
  [...text.matchAll(/([\w.[\]-]+)=/g)].some(([, name = '']) => isSecretMember(name))

/** Returns whether JSON has a member that may be a secret, by its name or its value. */
const hasSecretMember = (text: string): boolean => {
  const json = /^\s*[[{]/.test(text) ? parseIfJson(text) : undefined
  return json !== undefined && someValue(json, value => isJsonObject(value) && Object.keys(value).some(isSecretMember))
}

/**
 * Returns whether the browser may keep the value with which a parameter was tried. Values that may be secrets are not
 * kept: neither those of parameters that are, or are offered as, secrets, nor those that look like one.
 */
export const mayKeepValue = (checked: CheckedParameter, text: string): boolean =>
  text.length <= MAX_KEPT_CHARACTERS &&
  secretRuleOfParameter(checked) === 'none' &&
  !looksSecretText(text) &&
  !hasSecretPair(text) &&
  !hasSecretMember(text)
