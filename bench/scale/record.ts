import { expiryOf, type Authorization } from 'express-authorization-server'

/** Where the suite keeps an authorization. */
export const keyOf = ({ id }: Authorization): string => `authorization:${id}`

/** For how long the suite keeps it. */
export const secondsOf = (authorization: Authorization): number =>
  expiryOf(authorization) - Math.floor(Date.now() / 1000)
