import { serverTabPath } from '../frame/server-frame.ts'
import { globalPath } from '../globals/globals.view.ts'
import { type SecretPlace, secretField } from './parameter-secrets.ts'

/** Shows where the value of a parameter that is kept as a secret is, or asks for it. `place` is on the chosen server. */
export const toSecretView = (name: string, place: SecretPlace | undefined, errors: readonly string[]) => {
  if (place === undefined) return { state: 'later' as const }
  const { server } = place
  const shown = { server: server.text }
  switch (place.state) {
    case 'otherwise':
      return { ...shown, state: place.state, href: `${serverTabPath(server.value, 'tools')}/${place.instanceId}` }
    case 'stored':
      return { ...shown, state: place.state, key: place.key, href: globalPath(server.value, place.key) }
    case 'missing':
      return {
        ...shown,
        state: place.state,
        key: place.key,
        isPlain: place.isPlain,
        field: secretField(server.value, name),
        errors,
      }
  }
}
