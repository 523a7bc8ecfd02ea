import {
  approveWithCode,
  issueAccessToken,
  type AuthorizationServerOptions,
  type ResponseType,
} from 'express-authorization-server'

/** `code token`: an access token for the browser, and a code for the server of the client, which gets tokens of its own. */
export const codeToken: ResponseType = {
  name: 'code token',
  grantTypes: ['authorization_code', 'implicit'],
  mode: 'fragment',
  approve(proposed, context) {
    const { authorization, code } = approveWithCode(proposed, context)
    return { ...issueAccessToken(authorization, proposed.scope, context), parameters: { code } }
  },
}

/** What switches it on: the option of the server, and the registration of a client that may use it. */
export const options = {
  plugins: [{ name: 'code-token', responseTypes: [codeToken] }],
  clients: [
    {
      client_id: 'album',
      client_type: 'public',
      redirect_uris: ['https://album.example/callback'],
      grant_types: ['authorization_code', 'implicit', 'refresh_token'],
      response_types: ['code token'],
      scope: 'photos:read',
    },
  ],
} satisfies Partial<AuthorizationServerOptions>
