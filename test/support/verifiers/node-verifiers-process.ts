// First, because libraries may keep the clock that they find.
import { time } from './own-time'
import express, { type Express, type NextFunction, type Request, type Response } from 'express'
import { auth } from 'express-oauth2-jwt-bearer'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import { passportJwtSecret } from 'jwks-rsa'
import passport from 'passport'
import { ExtractJwt, Strategy } from 'passport-jwt'
import { listenAndPrint } from '../listen-and-print'

/** What verifiers elsewhere know of an issuer. */
export interface VerifierPlan {
  readonly issuer: string
  readonly audience: string
  /** To which each verifier adds its name, `?by=…`; but one finds the keys by discovery. */
  readonly jwksUri: string
  /** Seconds for which they keep keys. */
  readonly maximumAge: number
  /** Seconds that clocks may differ. */
  readonly tolerance: number
}

/** Guards of other authors as a program: each answers 204 below its name, or 401 with the reason. */
function serve(plan: VerifierPlan): void {
  const app = express()
  app.post('/ahead/:seconds', (request, response) => {
    time.ahead = Number(request.params.seconds)
    response.end()
  })
  mountExpressOauth2(app, plan)
  mountPassport(app, plan)
  mountJose(app, plan)
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    response.status(401).send(String(error))
  })
  listenAndPrint(app)
}

// Until its cache ends, a verifier refuses what an unknown key has signed: the lead of a successor must do without a look.
const patient = { cooldownDuration: Infinity }
const passed = (_request: Request, response: Response) => void response.status(204).end()

// Finds the keys by the metadata of the issuer.
function mountExpressOauth2(app: Express, { issuer, audience, maximumAge, tolerance }: VerifierPlan): void {
  const guard = auth({
    issuerBaseURL: issuer,
    audience,
    strict: true,
    clockTolerance: tolerance,
    cacheMaxAge: maximumAge * 1000,
    ...patient,
  })
  app.get('/express-oauth2-jwt-bearer', guard, passed)
}

function mountPassport(
  app: Express,
  { issuer, audience, jwksUri, maximumAge, tolerance }: VerifierPlan,
): void {
  const strategy = new Strategy(
    {
      secretOrKeyProvider: passportJwtSecret({
        jwksUri: `${jwksUri}?by=passport-jwt`,
        cacheMaxAge: maximumAge * 1000,
        cacheMaxEntries: 100,
      }),
      jwtFromRequest: ExtractJwt.fromAuthHeaderAsBearerToken(),
      issuer,
      audience,
      algorithms: ['RS256', 'PS256', 'ES256'],
      jsonWebTokenOptions: { clockTolerance: tolerance },
    },
    (claims: unknown, done: (error: unknown, claims: unknown) => void) => done(null, claims),
  )
  // By its name: passport would give a strategy itself to several requests at once.
  passport.use('jwt', strategy)
  app.get('/passport-jwt', passport.initialize(), passport.authenticate('jwt', { session: false }), passed)
}

function mountJose(app: Express, { issuer, audience, jwksUri, maximumAge, tolerance }: VerifierPlan): void {
  const keys = createRemoteJWKSet(new URL(`${jwksUri}?by=jose`), {
    cacheMaxAge: maximumAge * 1000,
    ...patient,
  })
  const terms = { issuer, audience, typ: 'at+jwt', clockTolerance: tolerance }
  app.get('/jose', (request, response, next) => {
    const token = request.get('Authorization')?.slice('Bearer '.length) ?? ''
    jwtVerify(token, keys, terms).then(() => passed(request, response), next)
  })
}

serve(JSON.parse(process.argv[2] ?? '{}'))
