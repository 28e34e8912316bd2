/** Names and paths shared by the parts of the authorization server. */
export const SESSION_COOKIE = 'op_session'
export const AUTHORIZE_PATH = '/oauth/authorize'
export const INTERACTION_PATH = '/oauth/interaction'
/** Parameter of an authorization request with the user's answer on the page that asks for the server: `yes` or `no`. */
export const ANSWER_PARAMETER = 'answer'
