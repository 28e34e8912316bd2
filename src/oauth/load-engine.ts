/** The authorization server itself, with a library of half a second and 45 MB: for who serves, and no other command. */
export const loadOAuthEngine = () => import('./engine.ts')
