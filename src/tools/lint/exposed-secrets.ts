import type { CheckedParameter } from '../../templates/compile-parameters.ts'
import { secretRuleOfParameter } from '../secret-parameters.ts'
import type { Finding } from './finding.ts'

/** Reports parameters that are secrets by default but whose values come from the model. `isExposed` says which do. */
export const lintExposedSecrets = (
  parameters: readonly CheckedParameter[],
  isExposed: (parameter: string) => boolean,
): Finding[] =>
  parameters
    .filter(checked => isExposed(checked.parameter.name) && secretRuleOfParameter(checked) === 'kept')
    .map(({ parameter: { name } }) => ({
      rule: 'secret-from-model',
      level: 'warning',
      field: 'parameters',
      parameter: name,
      message: `"${name}" is probably a secret, but its value comes from the model. It is in the conversation, and not masked in the history.`,
      remedy: 'Store it as a secret of the server, and bind the parameter to the secret.',
      clients: [],
    }))
