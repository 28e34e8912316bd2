import type { Engine, EngineParts } from './engine.ts'

export type LoadEngine = () => Promise<Engine>

/**
 * Loads the engine on first use. Its library takes a third of a second and 20 MB, which many installations never need.
 */
export const createEngineLoader = (parts: EngineParts): LoadEngine => {
  let loading: Promise<Engine> | undefined
  const load = async (): Promise<Engine> => {
    const { createEngine } = await import('./engine.ts')
    return createEngine(parts)
  }
  return () => {
    loading ??= load().catch(error => {
      // Allows a retry, for example once the database is reachable again.
      loading = undefined
      throw error
    })
    return loading
  }
}
