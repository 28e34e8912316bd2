/** Why a request got no complete response. */
export type OutboundFault =
  | 'dns' // the name does not resolve
  | 'refused' // the connection was refused
  | 'reset' // the connection was closed or reset before the response was complete
  | 'connect_timeout'
  | 'timeout' // the whole request took too long
  | 'busy' // no connection or no memory became free in time
  | 'failing' // not sent, because the origin failed several times in a row
  | 'too_large' // the body or the headers exceed the limit
  | 'blocked' // refused by the address guard, `mayReach`, `credentials` or a rule about redirects
  | 'invalid_request' // a method or header that HTTP or Patchbay does not allow
  | 'too_many_redirects'
  | 'tls' // certificate or handshake
  | 'protocol' // not HTTP, or malformed HTTP
  | 'encoding' // unknown, stacked or corrupt Content-Encoding
  | 'aborted' // `signal`
  | 'unreachable' // no route, or another network error
