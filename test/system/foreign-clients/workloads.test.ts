import { randomUUID } from 'node:crypto'
import jsonwebtoken from 'jsonwebtoken'
import { jwtBearer } from '../../../lib/paths/grants'
import { privateKeyJwt } from '../../../lib/paths/jwt'
import { signer, type Signer } from '../../support/assertions/jwt'
import { KeyServer } from '../../support/assertions/key-server'
import { foreignStage } from '../../support/clients/foreign-stage'
import { bent, photoPrint } from '../../support/flows/clients'
import type { Fields } from '../../support/flows/flow'
import { refusalOf, tokensOf } from '../../support/flows/tokens'

const cluster = signer('https://kubernetes.default.svc.cluster.local', 'cluster-1', 'RS256')
const github = signer('https://token.actions.githubusercontent.com', 'actions-1', 'RS256')
const [clusterKeys, githubKeys] = [new KeyServer(), new KeyServer()]
const jwtBearerName = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const reportOfShop = 'system:serviceaccount:shop:report'
const productionOfShop = 'repo:shop/site:environment:production'

beforeAll(async () => {
  await Promise.all([clusterKeys.start(), githubKeys.start()])
  clusterKeys.publish({ ...cluster.jwk, use: 'sig', alg: 'RS256' })
  githubKeys.publish({ ...github.jwk, use: 'sig', alg: 'RS256' })
})
afterAll(() => Promise.all([clusterKeys.stop(), githubKeys.stop()]))

const desk = bent(photoPrint, { grant_types: ['authorization_code', jwtBearerName] })
const program = (client_id: string, { issuer }: Signer, subject: string) =>
  ({
    client_id,
    client_type: 'confidential',
    credentials: { private_key_jwt: { issuer, subject } },
    grant_types: ['client_credentials'],
    scope: 'photos:read',
  }) as const

const stage = foreignStage(() => {
  const issuers = [
    { issuer: cluster.issuer, jwks_uri: clusterKeys.uri, repeatable: true },
    { issuer: github.issuer, jwks_uri: githubKeys.uri, repeatable: true },
  ]
  return {
    clients: [
      program('report', cluster, reportOfShop),
      program('deploy', github, productionOfShop),
      desk.registration,
    ],
    plugins: [
      privateKeyJwt({ issuers }),
      jwtBearer({
        issuers,
        resourceOwner: ({ issuer, claims: { repository, 'kubernetes.io': pod } }) =>
          issuer === cluster.issuer ? Object(pod).serviceaccount.name : `owner of ${String(repository)}`,
      }),
    ],
  }
})

/** A projected service account token, as the kubelet writes it into a file. */
function podToken(audience: string, by = cluster): string {
  const claims = {
    'kubernetes.io': {
      namespace: 'shop',
      node: { name: 'node-1', uid: randomUUID() },
      pod: { name: 'report-6d5f', uid: randomUUID() },
      serviceaccount: { name: 'report', uid: randomUUID() },
    },
    jti: randomUUID(),
    nbf: Math.floor(Date.now() / 1000),
  }
  return jsonwebtoken.sign(claims, by.privateKey, {
    algorithm: 'RS256',
    header: { alg: 'RS256', kid: by.kid, typ: undefined },
    issuer: by.issuer,
    subject: reportOfShop,
    audience: [audience],
    expiresIn: 3607,
  })
}

/** The ID token of a job of GitHub Actions. */
function jobToken(audience: string, subject = productionOfShop): string {
  const claims = {
    repository: 'shop/site',
    repository_owner: 'shop',
    repository_id: '74',
    environment: 'production',
    ref: 'refs/heads/main',
    event_name: 'push',
    job_workflow_ref: 'shop/site/.github/workflows/deploy.yml@refs/heads/main',
    runner_environment: 'github-hosted',
  }
  return jsonwebtoken.sign(claims, github.privateKey, {
    algorithm: 'RS256',
    keyid: github.kid,
    issuer: github.issuer,
    subject,
    audience,
    jwtid: randomUUID(),
    notBefore: -300,
    expiresIn: 300,
  })
}

const authenticate = (client_assertion: string, more: Fields = {}) =>
  stage().flow.submit('/token', {
    grant_type: 'client_credentials',
    scope: 'photos:read',
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion,
    ...more,
  })
const present = (assertion: string) =>
  stage().flow.request(desk, { grant_type: jwtBearerName, assertion, scope: 'photos:read' })
const accessOf = async (response: Awaited<ReturnType<typeof authenticate>>) =>
  (await stage().flow.photos(tokensOf(response).accessToken)).body

test('A pod authenticates by its service account token, again and again', async () => {
  const { issuer } = stage()
  const token = podToken(issuer)
  for (const more of [{}, { client_id: 'report' }])
    expect(await accessOf(await authenticate(token, more))).toMatchObject({ clientId: 'report' })
  expect(refusalOf(await authenticate(token, { client_id: 'deploy' }))).toBe('401 invalid_client')
  expect(refusalOf(await authenticate(podToken(cluster.issuer)))).toBe('401 invalid_client')
  const next = signer(cluster.issuer, 'cluster-2', 'RS256')
  expect(refusalOf(await authenticate(podToken(issuer, { ...next, kid: cluster.kid })))).toBe(
    '401 invalid_client',
  )
  expect(clusterKeys.requests).toBe(1)
})

test('A job of GitHub Actions authenticates by its token, and no job of another environment does', async () => {
  const { issuer } = stage()
  const token = jobToken(issuer)
  for (let times = 0; times < 2; times++)
    expect(await accessOf(await authenticate(token))).toMatchObject({ clientId: 'deploy' })
  const others = ['repo:shop/site:environment:test', 'repo:shop/site:pull_request', `${productionOfShop}2`]
  for (const subject of others)
    for (const client_id of [undefined, 'deploy'])
      expect(refusalOf(await authenticate(jobToken(issuer, subject), { client_id }))).toBe(
        '401 invalid_client',
      )
})

test('Either token is a grant for an owner, more than once, for five minutes at most', async () => {
  const { issuer } = stage()
  for (const [token, subject] of [
    [podToken(issuer), 'report'],
    [jobToken(issuer), 'owner of shop/site'],
  ] as const)
    for (let times = 0; times < 2; times++) {
      const response = await present(token)
      expect(tokensOf(response).expiresIn).toBeLessThanOrEqual(300)
      expect(await accessOf(response)).toMatchObject({ subject, clientId: 'photo-print' })
    }
})
