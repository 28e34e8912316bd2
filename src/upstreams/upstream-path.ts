/** Where the page of an upstream is, among the sources of its server. */
export const upstreamPath = (serverId: string, upstreamId: string): string =>
  `/servers/${serverId}/sources/upstreams/${upstreamId}`
