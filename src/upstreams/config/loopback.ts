/** As the URL standard writes addresses: numbers of IPv4 in tens, IPv6 as short as can be. */
const LOOPBACK = /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/

/** Whether an address is one of this machine's own, by its name. */
export const isLoopback = ({ hostname }: Pick<URL, 'hostname'>): boolean => LOOPBACK.test(hostname)
