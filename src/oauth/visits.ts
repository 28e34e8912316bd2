import type { IncomingMessage } from 'node:http'

/** What comes of a visit to the authorization endpoint, besides what the library answers itself. */
export type VisitOutcome =
  | { kind: 'error'; status: number; error: string; description: string }
  /** Nobody is signed in; `parameters` are those of the request to come back to. */
  | { kind: 'sign_in'; parameters: URLSearchParams }

/** A browser at the authorization endpoint, and who the dashboard's session says that it is. */
export type Visit = { userId: string | undefined; outcome: VisitOutcome | undefined }

/** The visits under way, by their requests: the library hands those on, and nothing else of ours. */
export const createVisits = () => {
  const visits = new WeakMap<IncomingMessage, Visit>()
  return {
    begin: (request: IncomingMessage, userId: string | undefined): Visit => {
      const visit: Visit = { userId, outcome: undefined }
      visits.set(request, visit)
      return visit
    },
    /** Undefined at the other endpoints. */
    find: (request: IncomingMessage): Visit | undefined => visits.get(request),
  }
}
export type Visits = ReturnType<typeof createVisits>
