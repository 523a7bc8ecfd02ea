/** Who plays in every story, the same for every server. */
export const client = {
  id: 'bench',
  secret: 'secret',
  redirectUri: 'https://client.example/cb',
}

/** Is logged in before each request begins. */
export const owner = 'alice'

export const scope = 'photos:read'

/** The API that access tokens are for, where they name it. */
export const resource = 'https://photos.example'

/** Lifetimes in seconds. */
export const lifetimes = { code: 60, accessToken: 3600, refreshToken: 14 * 24 * 3600 }
