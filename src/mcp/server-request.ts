import type { Caller } from '../servers/access/access.ts'
import { type HttpExchange, writeRefusal } from './http-exchange.ts'
import type { MountedServer } from './registry/mounted-server.ts'
import type { Refusal } from './rpc-response.ts'

/** An HTTP request to a server. Origin, Host and access have been checked. */
export type ServerRequest = {
  readonly http: HttpExchange
  readonly mounted: MountedServer
  readonly caller: Caller
}

/** Wraps `handle` in a handler that writes the refusal, if `handle` returns one. */
export const orRefuse =
  (handle: (request: ServerRequest) => Refusal | undefined) =>
  (request: ServerRequest): void => {
    const refused = handle(request)
    if (refused !== undefined) writeRefusal(request.http, refused)
  }
