/** `grant_type` of a token exchange (RFC 8693 2.1), and the name of what it keeps. */
export const tokenExchangeName = 'urn:ietf:params:oauth:grant-type:token-exchange'

/** RFC 8693 3: an access token of this server. */
export const accessTokenType = 'urn:ietf:params:oauth:token-type:access_token'

/** RFC 8693 3: a refresh token of this server, which is good at its own grant only. */
export const refreshTokenType = 'urn:ietf:params:oauth:token-type:refresh_token'
