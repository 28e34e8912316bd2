import type { Caller } from '../servers/access/access.ts'
import type { HttpExchange } from './http-exchange.ts'
import type { MountedServer } from './registry/mounted-server.ts'

/** An HTTP request that may use its server: Origin, Host and access have been checked. */
export type ServerRequest = {
  readonly http: HttpExchange
  readonly mounted: MountedServer
  readonly caller: Caller
}
