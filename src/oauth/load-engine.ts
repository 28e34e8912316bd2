import type { Engine, EngineParts } from './engine.ts'

export type LoadEngine = () => Promise<Engine>

/** The engine, from its first use on: its library takes a third of a second and 20 MB, which many never need. */
export const createEngineLoader = (parts: EngineParts): LoadEngine => {
  let loading: Promise<Engine> | undefined
  const load = async (): Promise<Engine> => {
    const { createEngine } = await import('./engine.ts')
    return createEngine(parts)
  }
  return () => {
    loading ??= load().catch(error => {
      // The database may be there again by the next request.
      loading = undefined
      throw error
    })
    return loading
  }
}
