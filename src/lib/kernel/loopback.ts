/** Matches loopback hosts in the form that the URL standard produces: decimal IPv4, shortest IPv6. */
const LOOPBACK = /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/

/** Returns whether a URL's host names this machine only. */
export const isLoopback = ({ hostname }: Pick<URL, 'hostname'>): boolean => LOOPBACK.test(hostname)
