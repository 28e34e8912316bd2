import { shorten } from '../../lib/kernel/format.ts'
import type { DefaultBinding } from '../../templates/check-value.ts'
import type { CheckedParameter } from '../../templates/compile-parameters.ts'
import type { Finding } from './finding.ts'

const MAX_VALUE_CHARACTERS = 100

/** Returns where a default binding takes the value from, as in `the secret "shop_token"` or `the fixed value 20`. */
export const describeDefault = (binding: DefaultBinding): string => {
  if (binding.source === 'instance') {
    return `the fixed value ${shorten(JSON.stringify(binding.value), MAX_VALUE_CHARACTERS)}`
  }
  return `the ${binding.secret ? 'secret' : 'global'} "${binding.key}"`
}

/** Reports parameters that come from the model, although the tool binds them by default. `isUnbound` says which do. */
export const lintUnboundDefaults = (
  parameters: readonly CheckedParameter[],
  isUnbound: (parameter: string) => boolean,
): Finding[] =>
  parameters.flatMap(({ parameter: { name }, meta: { binding } }) =>
    binding === undefined || !isUnbound(name)
      ? []
      : {
          rule: 'default-not-bound',
          level: 'warning',
          field: 'parameters',
          parameter: name,
          message: `"${name}" comes from the model, because the tool got its default, ${describeDefault(binding)}, after it was added to this server.`,
          remedy: 'Open the tool on this server, choose where the value comes from, and save.',
          clients: [],
        },
  )
