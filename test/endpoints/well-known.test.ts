import { wellKnownPaths } from '../../lib/endpoints/server-metadata'

describe('the well-known paths', () => {
  it('of an issuer without a path are two', () => {
    expect([...wellKnownPaths('', [])]).toEqual([
      '/.well-known/oauth-authorization-server',
      '/.well-known/openid-configuration',
    ])
  })

  it('have the paths of the resources behind them', () => {
    expect([...wellKnownPaths('', ['/mcp'])]).toEqual([
      '/.well-known/oauth-authorization-server',
      '/.well-known/oauth-authorization-server/mcp',
      '/.well-known/openid-configuration',
      '/.well-known/openid-configuration/mcp',
    ])
  })

  it('of an issuer with a path are before it and after it', () => {
    expect([...wellKnownPaths('/tenants/7', [])]).toEqual([
      '/.well-known/oauth-authorization-server/tenants/7',
      '/tenants/7/.well-known/oauth-authorization-server',
      '/.well-known/openid-configuration/tenants/7',
      '/tenants/7/.well-known/openid-configuration',
    ])
  })
})
