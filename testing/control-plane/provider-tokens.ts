/**
 * The claims of ID tokens as providers send them, by their own documentation: names, kinds and absences are theirs, the
 * values are made up. A provider on a
 * socket sends an `iss`, `aud` and `azp` of its own.
 */
import type { Claims } from '@gw/control-plane/internals/people/access/oidc-person';

export interface ProviderToken {
  readonly source: string;
  readonly claims: Claims & { readonly iss: string; readonly sub: string };
}

const tenant = '6babcaad-604b-40ac-a9d7-9fd97c0b779f';
const subject = 'AAAAAAAAAAAAAAAAAAAAAIkzqFVrSaSaFHy782bbtaQ';

export const providerTokens = {
  /** A work or school account has no `email_verified`, and `email` only if its user has one. */
  entra: {
    source: 'https://learn.microsoft.com/entra/identity-platform/id-token-claims-reference',
    claims: {
      ver: '2.0',
      iss: `https://login.microsoftonline.com/${tenant}/v2.0`,
      sub: subject,
      aud: '6cb04018-a3f5-46a7-b995-940c78f5aef3',
      name: 'Ada Example',
      preferred_username: 'Ada@ops.example',
      email: 'ada@ops.example',
      oid: '00000000-0000-0000-66f3-3332eca7ea81',
      tid: tenant,
      rh: '0.AAAAAAAAAAAA',
      uti: 'fqiBqXLPj0eQa82S-IYFAA',
      aio: 'Df2UVXL1ix!lMCWMSOJBcFatzcGfvFGhjKv8q5g0x732dR5MB5BisvGQO7YWByjd8iQDLq',
    },
  },
  /** The same with the optional claim by which Entra says that the owner of the domain has verified the e-mail. */
  entraEdov: {
    source: 'https://learn.microsoft.com/entra/identity-platform/optional-claims-reference (xms_edov)',
    claims: {
      ver: '2.0',
      iss: `https://login.microsoftonline.com/${tenant}/v2.0`,
      sub: subject,
      aud: '6cb04018-a3f5-46a7-b995-940c78f5aef3',
      email: 'ada@ops.example',
      xms_edov: true,
      oid: '00000000-0000-0000-66f3-3332eca7ea81',
      tid: tenant,
    },
  },
  /** A custom authorization server sends it for `openid profile email`. */
  okta: {
    source: 'https://developer.okta.com/docs/api/openapi/okta-oauth/guides/overview/ (ID token)',
    claims: {
      ver: 1,
      iss: 'https://example.okta.com/oauth2/default',
      sub: '00uid4BxXw6I6TV4m0g3',
      aud: 'uAaunofWkaDJxukCFeBx',
      jti: 'ID.4eAWJOCMB3SX8XewDfVR',
      amr: ['pwd'],
      idp: '00ok1u7AsAkrwdZL3z0g3',
      auth_time: 1311280970,
      preferred_username: 'ada@ops.example',
      name: 'Ada Example',
      email: 'ada@ops.example',
      email_verified: true,
      at_hash: 'preview_at_hash',
    },
  },
  /** Beside an access token Okta may leave out what its userinfo endpoint tells. */
  oktaThin: {
    source: 'https://support.okta.com/help/s/article/Okta-Groups-or-Attribute-Missing-from-Id-Token (thin ID tokens)',
    claims: {
      ver: 1,
      iss: 'https://example.okta.com',
      sub: '00uid4BxXw6I6TV4m0g3',
      aud: 'uAaunofWkaDJxukCFeBx',
      jti: 'ID.4eAWJOCMB3SX8XewDfVR',
      amr: ['pwd'],
      idp: '00ok1u7AsAkrwdZL3z0g3',
      auth_time: 1311280970,
      at_hash: 'preview_at_hash',
    },
  },
  /** A user of a realm whose e-mail an admin has not ticked as verified has `email_verified: false`. */
  keycloak: {
    source: 'https://www.keycloak.org/docs/latest/server_admin/#_oidc-clients (client scopes profile and email)',
    claims: {
      iss: 'https://sso.example/realms/gateway',
      sub: 'f1f9c3a2-3d2a-4d4b-8f0e-7a8f8c2e4a10',
      aud: 'gw',
      azp: 'gw',
      typ: 'ID',
      sid: '7ee1c6a1-5f0c-4bd3-9d41-5b7d1b5cd0bb',
      acr: '1',
      auth_time: 1736500000,
      jti: '4f3c8a55-2f42-4c55-a3a9-6d8d3b4a6e11',
      at_hash: 'x',
      email_verified: true,
      name: 'Ada Example',
      preferred_username: 'ada',
      given_name: 'Ada',
      family_name: 'Example',
      email: 'ada@ops.example',
    },
  },
  /** An account of a Workspace has its domain in `hd`. */
  googleWorkspace: {
    source: 'https://developers.google.com/identity/openid-connect/openid-connect#an-id-tokens-payload',
    claims: {
      iss: 'https://accounts.google.com',
      azp: '1234987819200.apps.googleusercontent.com',
      aud: '1234987819200.apps.googleusercontent.com',
      sub: '10769150350006150715113082367',
      at_hash: 'HK6E_P6Dh8Y93mRNtsDB1Q',
      hd: 'ops.example',
      email: 'ada@ops.example',
      email_verified: true,
    },
  },
  /** A private account with an address elsewhere: verified once, and no `hd`. */
  googlePrivate: {
    source:
      'https://developers.google.com/identity/gsi/web/guides/verify-google-id-token (when Google is authoritative)',
    claims: {
      iss: 'https://accounts.google.com',
      azp: '1234987819200.apps.googleusercontent.com',
      aud: '1234987819200.apps.googleusercontent.com',
      sub: '10769150350006150715113082368',
      email: 'ada@ops.example',
      email_verified: true,
    },
  },
} satisfies Record<string, ProviderToken>;
