export interface paths {
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_openapi_json"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_healthz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_metrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/live": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_operator_v1_live"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_session"];
        put?: never;
        post: operations["post_session"];
        delete: operations["delete_session"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/session/all": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["delete_session_all"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/session/credential": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["put_session_credential"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/session/second-factor": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_session_second_factor"];
        put: operations["put_session_second_factor"];
        post: operations["post_session_second_factor"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/session/second-factor/remove": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["post_session_second_factor_remove"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/operators": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_operator_v1_operators"];
        put?: never;
        post: operations["post_operator_v1_operators"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/operators/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch: operations["patch_operator_v1_operators_id"];
        trace?: never;
    };
    "/operator/v1/operators/{id}/disable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["post_operator_v1_operators_id_disable"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/operators/{id}/enable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["post_operator_v1_operators_id_enable"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/operators/{id}/reset-credential": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["post_operator_v1_operators_id_reset_credential"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/operators/{id}/unbind-identity": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["post_operator_v1_operators_id_unbind_identity"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/operators/{id}/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_operator_v1_operators_id_tokens"];
        put?: never;
        post: operations["post_operator_v1_operators_id_tokens"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/operators/{id}/tokens/{token_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["delete_operator_v1_operators_id_tokens_token_id"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_operator_v1_audit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/audit/heads": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_operator_v1_audit_heads"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/organisation/v1/audit-log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_organisation_v1_audit_log"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/accounts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_operator_v1_accounts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/accounts/{accountId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_operator_v1_accounts_accountId"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch: operations["patch_operator_v1_accounts_accountId"];
        trace?: never;
    };
    "/operator/v1/accounts/{accountId}/suspend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["post_operator_v1_accounts_accountId_suspend"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/accounts/{accountId}/reinstate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["post_operator_v1_accounts_accountId_reinstate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/accounts/{accountId}/admins": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_operator_v1_accounts_accountId_admins"];
        put?: never;
        post: operations["post_operator_v1_accounts_accountId_admins"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/accounts/{accountId}/admins/{id}/disable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["post_operator_v1_accounts_accountId_admins_id_disable"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/accounts/{accountId}/admins/{id}/enable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["post_operator_v1_accounts_accountId_admins_id_enable"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/accounts/{accountId}/admins/{id}/reset-credential": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["post_operator_v1_accounts_accountId_admins_id_reset_credential"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/organisation/v1/account": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_organisation_v1_account"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/use-policy": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_operator_v1_use_policy"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/applications": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_operator_v1_applications"];
        put?: never;
        post: operations["post_operator_v1_applications"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/applications/{account_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_operator_v1_applications_account_id"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/applications/{account_id}/declaration": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["post_operator_v1_applications_account_id_declaration"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/applications/{account_id}/clear-match": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["post_operator_v1_applications_account_id_clear_match"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/applications/{account_id}/reject-match": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["post_operator_v1_applications_account_id_reject_match"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/applications/{account_id}/approve-review": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["post_operator_v1_applications_account_id_approve_review"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/applications/{account_id}/reject-review": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["post_operator_v1_applications_account_id_reject_review"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/applications/{account_id}/contract": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["post_operator_v1_applications_account_id_contract"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/applications/{account_id}/key": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["post_operator_v1_applications_account_id_key"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/providers/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["post_operator_v1_providers_id_test"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/providers/{id}/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_operator_v1_providers_id_models"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/deployment-health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_operator_v1_deployment_health"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/credentials": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_operator_v1_credentials"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/credentials/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["put_operator_v1_credentials_name"];
        post?: never;
        delete: operations["delete_operator_v1_credentials_name"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/credentials/{name}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["post_operator_v1_credentials_name_restore"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/policy": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_operator_v1_policy"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/policy/defaults": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_operator_v1_policy_defaults"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/policy/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_operator_v1_policy_versions"];
        put?: never;
        post: operations["post_operator_v1_policy_versions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/policy/versions/{version}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_operator_v1_policy_versions_version"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/policy/rules/{rule}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch: operations["patch_operator_v1_policy_rules_rule"];
        trace?: never;
    };
    "/operator/v1/policy/exemptions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_operator_v1_policy_exemptions"];
        put?: never;
        post: operations["post_operator_v1_policy_exemptions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/policy/exemptions/{accountId}/{rule}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["delete_operator_v1_policy_exemptions_accountId_rule"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/policy/dry-run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["post_operator_v1_policy_dry_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/organisation/v1/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_organisation_v1_models"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/organisation/v1/receipts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_organisation_v1_receipts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/organisation/v1/receipts/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_organisation_v1_receipts_id"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/organisation/v1/receipts/{id}/lineage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_organisation_v1_receipts_id_lineage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/organisation/v1/evidence-pack/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_organisation_v1_evidence_pack_id"];
        put?: never;
        post?: never;
        delete: operations["delete_organisation_v1_evidence_pack_id"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/organisation/v1/methodology/{hash}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_organisation_v1_methodology_hash"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/organisation/v1/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_organisation_v1_usage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/organisation/v1/evidence-packs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_organisation_v1_evidence_packs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/organisation/v1/evidence-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_organisation_v1_evidence_keys"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/receipts/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_operator_v1_receipts_verify"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/receipts/set-aside": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_operator_v1_receipts_set_aside"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/receipts/set-aside/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["post_operator_v1_receipts_set_aside_retry"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_operator_v1_usage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/grid": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_operator_v1_grid"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/accounts/{accountId}/budgets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_operator_v1_accounts_accountId_budgets"];
        put?: never;
        post: operations["post_operator_v1_accounts_accountId_budgets"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/accounts/{accountId}/budgets/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["delete_operator_v1_accounts_accountId_budgets_id"];
        options?: never;
        head?: never;
        patch: operations["patch_operator_v1_accounts_accountId_budgets_id"];
        trace?: never;
    };
    "/organisation/v1/budgets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_organisation_v1_budgets"];
        put?: never;
        post: operations["post_organisation_v1_budgets"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/organisation/v1/budgets/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["delete_organisation_v1_budgets_id"];
        options?: never;
        head?: never;
        patch: operations["patch_organisation_v1_budgets_id"];
        trace?: never;
    };
    "/operator/v1/accounts/{accountId}/budget-webhook": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_operator_v1_accounts_accountId_budget_webhook"];
        put: operations["put_operator_v1_accounts_accountId_budget_webhook"];
        post?: never;
        delete: operations["delete_operator_v1_accounts_accountId_budget_webhook"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/accounts/{accountId}/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_operator_v1_accounts_accountId_keys"];
        put?: never;
        post: operations["post_operator_v1_accounts_accountId_keys"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/accounts/{accountId}/keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_operator_v1_accounts_accountId_keys_id"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch: operations["patch_operator_v1_accounts_accountId_keys_id"];
        trace?: never;
    };
    "/operator/v1/accounts/{accountId}/keys/{id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["post_operator_v1_accounts_accountId_keys_id_rotate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/accounts/{accountId}/keys/{id}/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["post_operator_v1_accounts_accountId_keys_id_revoke"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/accounts/{accountId}/keys/{id}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["post_operator_v1_accounts_accountId_keys_id_restore"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/organisation/v1/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_organisation_v1_keys"];
        put?: never;
        post: operations["post_organisation_v1_keys"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/organisation/v1/keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_organisation_v1_keys_id"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch: operations["patch_organisation_v1_keys_id"];
        trace?: never;
    };
    "/organisation/v1/keys/{id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["post_organisation_v1_keys_id_rotate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/organisation/v1/keys/{id}/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["post_organisation_v1_keys_id_revoke"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/organisation/v1/keys/{id}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["post_organisation_v1_keys_id_restore"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_operator_v1_models"];
        put?: never;
        post: operations["post_operator_v1_models"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/models/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_operator_v1_models_id"];
        put?: never;
        post?: never;
        delete: operations["delete_operator_v1_models_id"];
        options?: never;
        head?: never;
        patch: operations["patch_operator_v1_models_id"];
        trace?: never;
    };
    "/operator/v1/regions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_operator_v1_regions"];
        put?: never;
        post: operations["post_operator_v1_regions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/regions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_operator_v1_regions_id"];
        put?: never;
        post?: never;
        delete: operations["delete_operator_v1_regions_id"];
        options?: never;
        head?: never;
        patch: operations["patch_operator_v1_regions_id"];
        trace?: never;
    };
    "/operator/v1/providers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_operator_v1_providers"];
        put?: never;
        post: operations["post_operator_v1_providers"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/providers/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_operator_v1_providers_id"];
        put?: never;
        post?: never;
        delete: operations["delete_operator_v1_providers_id"];
        options?: never;
        head?: never;
        patch: operations["patch_operator_v1_providers_id"];
        trace?: never;
    };
    "/operator/v1/deployments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_operator_v1_deployments"];
        put?: never;
        post: operations["post_operator_v1_deployments"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/deployments/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_operator_v1_deployments_id"];
        put?: never;
        post?: never;
        delete: operations["delete_operator_v1_deployments_id"];
        options?: never;
        head?: never;
        patch: operations["patch_operator_v1_deployments_id"];
        trace?: never;
    };
    "/operator/v1/aliases": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_operator_v1_aliases"];
        put?: never;
        post: operations["post_operator_v1_aliases"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/aliases/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_operator_v1_aliases_id"];
        put?: never;
        post?: never;
        delete: operations["delete_operator_v1_aliases_id"];
        options?: never;
        head?: never;
        patch: operations["patch_operator_v1_aliases_id"];
        trace?: never;
    };
    "/operator/v1/prices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_operator_v1_prices"];
        put?: never;
        post: operations["post_operator_v1_prices"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/prices/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_operator_v1_prices_id"];
        put?: never;
        post?: never;
        delete: operations["delete_operator_v1_prices_id"];
        options?: never;
        head?: never;
        patch: operations["patch_operator_v1_prices_id"];
        trace?: never;
    };
    "/operator/v1/energy-contracts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_operator_v1_energy_contracts"];
        put?: never;
        post: operations["post_operator_v1_energy_contracts"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operator/v1/energy-contracts/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_operator_v1_energy_contracts_id"];
        put?: never;
        post?: never;
        delete: operations["delete_operator_v1_energy_contracts_id"];
        options?: never;
        head?: never;
        patch: operations["patch_operator_v1_energy_contracts_id"];
        trace?: never;
    };
    "/operator/v1/catalogue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_operator_v1_catalogue"];
        put: operations["put_operator_v1_catalogue"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/organisation/v1/evidence-pack": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["post_organisation_v1_evidence_pack"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        ListedOperator: {
            id: string;
            /** @constant */
            object: "operator";
            name: string;
            email: string;
            /** @enum {string} */
            role: "viewer" | "support" | "admin";
            /** @enum {string} */
            state: "enabled" | "disabled";
            /** @description How the person can log in */
            logins: ("credential" | "oidc")[];
            /** Format: date-time */
            created_at: string;
            /** @description Whether a login with the credential asks for a code of a second factor */
            second_factor: boolean;
        };
        Operator: {
            id: string;
            /** @constant */
            object: "operator";
            name: string;
            email: string;
            /** @enum {string} */
            role: "viewer" | "support" | "admin";
            /** @enum {string} */
            state: "enabled" | "disabled";
            /** @description How the person can log in */
            logins: ("credential" | "oidc")[];
            /** Format: date-time */
            created_at: string;
        };
        AuditList: {
            /** @constant */
            object: "list";
            data: components["schemas"]["AuditEntry"][];
            has_more: boolean;
            first_id: string | null;
            last_id: string | null;
        };
        AuditEntry: {
            id: string;
            /** @constant */
            object: "gw.audit_entry";
            /** @description From 1, without gaps */
            seq: number;
            /** Format: date-time */
            at: string;
            actor: {
                /** @enum {string} */
                kind: "operator" | "organisation_admin" | "api_key" | "system";
                /** @description Of an API key its id; of the system the job's name */
                id: string;
                name: string | null;
            };
            action: string;
            /** @description What it was done to, for example `key:<id>` */
            target: string;
            request_id: string | null;
            before: unknown;
            after: unknown;
            /** @description Hash of the entry before; zeros for the first */
            prev_hash: string;
            /** @description SHA-256 of the RFC 8785 form of the entry without `id`, `object` and `hash`, but with `chain`: the account id. Note it: whoever holds a hash can prove that nothing before it was changed */
            hash: string;
        };
        OperatorAccount: {
            id: string;
            /** @constant */
            object: "account";
            name: string;
            /** @enum {string} */
            tier: "audit" | "audit_plus" | "enterprise";
            /** @enum {string} */
            state: "onboarding" | "active" | "suspended" | "closed";
            /** @description The only models and aliases that it may use; null: every one */
            models: string[] | null;
            /** @description What holds for the account */
            limits: {
                /** @description Requests per second */
                per_s: number;
                /** @description Requests at once */
                burst: number;
                /** @description Requests per UTC day */
                per_day: number;
                /** @description Open at once */
                streams: number;
            };
            /** @description Whether `limits` are its own, not those of its tier */
            negotiated: boolean;
            /** @description How much slower or dearer a region may be than the preferred one, to be chosen for its carbon intensity */
            tolerance: {
                /** @description Null: any */
                added_latency_ms: number | null;
                /** @description Null: any */
                added_cost_percent: number | null;
            };
            /** @description Limits that are counted and reported, and refuse nothing */
            shadow: ("rate" | "day" | "streams")[];
            /** Format: date-time */
            created_at: string;
        };
        ListedOrganisationAdmin: {
            id: string;
            /** @constant */
            object: "organisation_admin";
            account_id: string;
            name: string;
            email: string;
            /** @enum {string} */
            state: "enabled" | "disabled";
            /** Format: date-time */
            created_at: string;
            /** @description Whether a login with the credential asks for a code of a second factor */
            second_factor: boolean;
        };
        OrganisationAdmin: {
            id: string;
            /** @constant */
            object: "organisation_admin";
            account_id: string;
            name: string;
            email: string;
            /** @enum {string} */
            state: "enabled" | "disabled";
            /** Format: date-time */
            created_at: string;
        };
        Application: {
            account_id: string;
            /** @constant */
            object: "gw.application";
            name: string;
            /** @enum {string} */
            tier: "audit" | "audit_plus" | "enterprise";
            /** @enum {string} */
            stage: "account_created" | "use_screening" | "sanctions_screening" | "manual_review" | "contract_pending" | "key_pending" | "complete" | "rejected" | "expired" | "use_match" | "sanctions_match";
            billing_contact: {
                name: string;
                email: string;
            };
            technical_contact: {
                name: string;
                email: string;
            };
            declaration: components["schemas"]["ApplicationDeclaration"] | null;
            use_screening: components["schemas"]["UseScreening"] | null;
            sanctions_screening: components["schemas"]["SanctionsScreening"] | null;
            /** @description Null until the declaration is screened */
            high_risk: boolean | null;
            contract: {
                sha256: string;
                reference: string | null;
                signed_at: string | null;
            } | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            /** Format: date-time */
            expires_at: string;
        };
        ApplicationDeclaration: {
            intended_use: string;
            uses: string[];
            industry: string;
            countries: string[];
        };
        UseScreening: {
            /** @enum {string} */
            outcome: "clear" | "match" | "prohibited";
            policy_version: string;
            policy_sha256: string;
            /** @description Ids of prohibited uses that were declared */
            prohibited: string[];
            phrases: string[];
            high_risk: boolean;
        } & {
            [key: string]: unknown;
        };
        SanctionsScreening: {
            /**
             * @description `waits`: it could not be done yet, for the `reason`
             * @enum {string}
             */
            outcome: "clear" | "match" | "waits";
            /** Format: date-time */
            at: string;
            reason?: string;
            /** @description The names that were compared */
            screened?: {
                organisation: string;
                billing_contact: string;
                technical_contact: string;
            };
            names?: {
                /** @enum {string} */
                outcome: "clear" | "match";
                threshold: number;
                /** @description The highest scores first; `match_count` has their number */
                matches: ({
                    /** @description Whose name it is */
                    role: string;
                    list: string;
                    entry_id: string;
                    listed_name: string;
                    score: number;
                } & {
                    [key: string]: unknown;
                })[];
                match_count: number;
                /** @description Whose names have a match */
                matched: string[];
                /** @description Whose names are for people to look at */
                not_comparable: string[];
                lists: ({
                    list: string;
                    format: string;
                    date: string | null;
                } & {
                    [key: string]: unknown;
                })[];
            } & {
                [key: string]: unknown;
            };
            dual_use?: {
                /** @enum {string} */
                outcome: "clear" | "match";
                policy_version: string;
                policy_sha256: string;
                phrases: string[];
                countries: string[];
            } & {
                [key: string]: unknown;
            };
            /** @description Nobody has decided yet about what was found about a new name */
            needs_decision?: boolean;
            /** @description Names that could not be screened yet */
            unscreened?: {
                names: {
                    organisation: string;
                    billing_contact: string;
                    technical_contact: string;
                };
                /** Format: date-time */
                since: string;
                reason: string;
            };
        } & {
            [key: string]: unknown;
        };
        ApplicationStep: {
            account_id: string;
            step: number;
            action: string;
            from: string | null;
            to: string;
            actor: {
                kind: string;
                id: string;
            };
            /** Format: date-time */
            at: string;
            input: unknown;
            outcome: unknown;
        };
        KeyCreateRequest: {
            /** @description For people, 1 to 100 characters */
            name: string;
            /** @description Default: inference:read, inference:write, gw:read */
            scopes?: ("inference:read" | "inference:write" | "gw:read" | "gw:lineage" | "gw:export" | "admin:keys")[];
            expires_at?: string | null;
            limits?: components["schemas"]["KeyLimitsRequest"] | null;
            /** @description What calls with this key are charged to, whatever they name themselves, 1 to 64 characters */
            project?: string | null;
        };
        /** @description Enterprise only, and none above what the account has */
        KeyLimitsRequest: {
            /** @description Requests per second; goes with `burst` */
            per_s?: number | null;
            /** @description Requests at once; goes with `per_s` */
            burst?: number | null;
            /** @description Requests per UTC day */
            per_day?: number | null;
            /** @description Open streams */
            streams?: number | null;
        };
        IssuedKey: {
            /** @description The public part of the key; may be shown and logged */
            id: string;
            /** @constant */
            object: "gw.api_key";
            name: string;
            /**
             * @description `revoked` wins over `expired`
             * @enum {string}
             */
            state: "active" | "revoked" | "expired";
            /** @description What the key may do, with the tier that the account has now */
            scopes: ("inference:read" | "inference:write" | "gw:read" | "gw:lineage" | "gw:export" | "admin:keys")[];
            /** Format: date-time */
            created_at: string;
            /** @description With the tier that the account has now: on Audit no expiry holds */
            expires_at: string | null;
            revoked_at: string | null;
            /** @description Until then a revocation can be taken back; null: there is none */
            restorable_until: string | null;
            /** @description UTC day of the last call; null: not used yet */
            last_used_on: string | null;
            /** @description What the key may take of the limits of its account; a null in it, or null: all of it */
            limits: components["schemas"]["KeyLimits"] | null;
            /** @description What its calls are charged to, whatever they name themselves; null: what they name */
            project: string | null;
            /** @description Id of the key that this one succeeds */
            predecessor: string | null;
            /** @description The key itself; shown in this reply and never again */
            key: string;
        };
        KeyLimits: {
            /** @description Requests per second */
            per_s: number | null;
            /** @description Requests at once */
            burst: number | null;
            /** @description Requests per UTC day */
            per_day: number | null;
            /** @description Open streams */
            streams: number | null;
        };
        ModelList: {
            /** @constant */
            object: "list";
            data: components["schemas"]["Model"][];
            has_more: boolean;
            first_id: string | null;
            last_id: string | null;
        };
        Model: {
            id: string;
            /** @constant */
            object: "model";
            /** @description Seconds since 1970 */
            created: number;
            owned_by: string;
            /**
             * @description What it serves: chat and text completions, or embeddings
             * @enum {string}
             */
            kind: "chat" | "embedding";
            /** @description Tokens; null if unknown */
            context_window: number | null;
            modalities: string[];
            /** @description Codes of the regions that serve it */
            regions: string[];
            /** @description Tiers of receipts that can be asked for */
            tiers: ("proxy" | "parametric" | "telemetry")[];
            /** @description Of an alias alone: the models that serve it, in the order in which they are preferred, each at one provider or, without `provider`, at all. `kind`, `context_window` and `modalities` hold for all of them, a region or a tier for at least one */
            targets?: {
                model: string;
                provider?: string;
            }[];
        };
        ReceiptList: {
            /** @constant */
            object: "list";
            data: components["schemas"]["Receipt"][];
            has_more: boolean;
            first_id: string | null;
            last_id: string | null;
            /** @description Receipts of this page that were altered in storage and so are not in `data`; absent if there are none */
            altered?: {
                id: string;
                version: number;
            }[];
        };
        /** @description The environmental receipt of one call */
        Receipt: {
            /** @description Names the receipt in all its versions: `rcpt_` and a UUIDv7, whose time is `created_at` */
            id: string;
            /**
             * @description What this object is
             * @constant
             */
            object: "gw.receipt";
            /** @description 1 as issued; a recalculated or restated receipt is a new version */
            version: number;
            /** @description The version that this one replaces; null for the first */
            supersedes: number | null;
            /**
             * Format: date-time
             * @description When the call was accepted, UTC
             */
            created_at: string;
            /** @description The `x-request-id` of the reply */
            request_id: string | null;
            /**
             * @description How the call ended; `pending` while it runs. `client_aborted`: the client left before the end
             * @enum {string}
             */
            status: "pending" | "complete" | "client_aborted" | "upstream_error";
            /**
             * @description How the energy was found; `degraded`: it was not
             * @enum {string}
             */
            tier: "proxy" | "parametric" | "telemetry" | "degraded";
            /**
             * @description What the request asked for in `gw.tier`
             * @enum {string}
             */
            requested_tier: "auto" | "proxy" | "parametric" | "telemetry";
            /** @description Why this tier, and the assumptions behind it, in words */
            tier_reason: string | null;
            /**
             * @description What is counted
             * @enum {string}
             */
            boundary: "comprehensive" | "narrow";
            /** @description What is not counted: outside the boundary, or not known. Every name here is a part with no number. `undelivered_output`: the reply broke off, so the amounts are lower bounds */
            boundary_excludes: string[];
            /** @description The model that was asked for; of a call that named an alias, the one of its models that answered */
            model: string;
            /** @description Who served the call */
            provider: string | null;
            /** @description Where it was served, a code of `GET /v1/regions` */
            region: string | null;
            /** @description The electricity grid of that region */
            grid_zone: string | null;
            /** @description Tokens read, those from a cache included; null where nobody counted */
            prompt_tokens: number | null;
            /** @description Tokens written, reasoning included */
            completion_tokens: number | null;
            /**
             * @description Simulated calls only: the provider is a simulator, so nothing was computed, and no number here is of the world
             * @constant
             */
            simulated?: true;
            /** @description What the call is charged to: the project of its key, else `metadata.project` of the request; null: none. Absent in receipts from before there were projects */
            project?: string | null;
            /** @description Who counted the tokens: the provider; or the gateway, which estimated at least one count from text */
            usage_source: ("provider" | "estimated") | null;
            /** @description Wh. The energy of the call: the sum of the four parts below that are not null */
            energy_wh: number | null;
            /** @description Wh. GPUs, reading the prompt and writing the answer */
            energy_accelerator_wh: number | null;
            /** @description Wh. The rest of the servers: processors, memory, fans */
            energy_host_wh: number | null;
            /** @description Wh. The share of machines that stand ready */
            energy_idle_wh: number | null;
            /** @description Wh. Cooling and power distribution of the data centre */
            energy_overhead_wh: number | null;
            /** @description Wh. Lower bound of `energy_wh`, by `uncertainty_basis` */
            energy_low_wh: number | null;
            /** @description Wh. Upper bound of `energy_wh`, by `uncertainty_basis` */
            energy_high_wh: number | null;
            /** @description Where the accelerator part comes from; `unavailable`: the source gives a total alone */
            energy_split: ("modelled" | "measured" | "unavailable") | null;
            /** @description Wh. Attempts that failed before this one, outside the sum. Always null: no provider reports it, and the methodologies count by what was written, which nobody knows of a failed attempt; `routing_trace.attempts` counts them */
            energy_failed_attempts_wh: number | null;
            /** @description Wh. Measured energy only: what the model gives for what was measured, the accelerators or the total (without the overhead, where the figure is) */
            modelled_energy_wh?: number;
            /** @description gCO2e. `carbon_operation_g` + `carbon_embodied_g` */
            carbon_g: number | null;
            /** @description gCO2e. `energy_wh` / 1000 × `grid_intensity_g_per_kwh` */
            carbon_operation_g: number | null;
            /** @description gCO2e. The share of making the hardware, by the time that it was used */
            carbon_embodied_g: number | null;
            /** @description gCO2e. Lower bound of `carbon_g` */
            carbon_low_g: number | null;
            /** @description gCO2e. Upper bound of `carbon_g` */
            carbon_high_g: number | null;
            /** @description gCO2e per call. Software Carbon Intensity, ISO/IEC 21031, with one API call as the unit; null if narrow */
            sci_g_per_request: number | null;
            /** @description mL. Water evaporated on site and by power stations; not that of making the hardware */
            water_ml: number | null;
            /** @description mL. Lower bound of `water_ml`; not in receipts of methodologies before gw-1.4 */
            water_low_ml?: number | null;
            /** @description mL. Upper bound of `water_ml`; not in receipts of methodologies before gw-1.4 */
            water_high_ml?: number | null;
            /** @description What the bounds are: `combined` from the sources that the lineage names; before gw-1.4 `parameter_range` (of the model or as stated by the source) or `literature_default` (of the tier), which are scenarios */
            uncertainty_basis: string | null;
            /** @description Power usage effectiveness of the data centre: all its energy per energy of its computers. Always the site's; in a measured total (`energy_split`: `unavailable`) it has no part */
            pue: number | null;
            /** @description gCO2e/kWh. Average, location-based intensity of the grid zone */
            grid_intensity_g_per_kwh: number | null;
            /** @description Whose value it is, with the year where it is a yearly one */
            grid_intensity_source: string | null;
            /** @description The time that the value is for, by its source, UTC */
            grid_intensity_observed_at: string | null;
            /** @description The time that the value is used for, which is that of the call, UTC */
            grid_intensity_requested_at: string | null;
            /** @description Minutes between the two, one decimal; 0 within the interval of the value, null for a forecast but not for an estimate */
            grid_intensity_age_minutes: number | null;
            /**
             * @description How well the value fits the time of the call. `forecast` is also what its source calls an estimate
             * @enum {string}
             */
            grid_temporal_match: "live_window" | "fresh" | "forecast" | "prior_week" | "annual_fallback" | "none";
            /**
             * @description What the intensity counts: `lifecycle`, the whole life cycle of the power stations; `combustion`, what they burn alone, which is lower. Absent where there are no numbers, and in methodologies before gw-1.4
             * @enum {string}
             */
            grid_basis?: "lifecycle" | "combustion" | "unknown";
            /** @description The year of a yearly intensity; null for any other, absent as above */
            grid_vintage?: number | null;
            /** @description By which formulas and constants */
            methodology: string | null;
            /** @description Their version */
            methodology_version: string | null;
            /** @description SHA-256 over all formulas and constants */
            methodology_hash: string | null;
            /** @description SHA-256 over the call, the facts that all numbers follow from, and `methodology_hash`; `digest` of the lineage. Absent where there are no numbers, and in receipts of methodologies before gw-1.4 */
            lineage_digest?: string;
            /**
             * @description Degraded receipts only: why there are no numbers
             * @enum {string}
             */
            degraded_reason?: "usage_missing" | "usage_implausible" | "model_parameters_unknown" | "no_embedding_factor" | "grid_intensity_missing" | "tier_unavailable" | "telemetry_pending" | "calculator_fault" | "sidecar_unavailable" | "receipt_not_stored" | "client_aborted_unmeasured" | "upstream_error_unmeasured";
            /** @description Degraded receipts only: the same in words */
            explanation?: string;
            /** @description Degraded receipts only: whether a new version is promised, for when the reason is gone */
            recalculable?: boolean;
        };
        /** @description How each number of a receipt was made */
        ReceiptLineage: {
            /** @constant */
            object: "gw.receipt_lineage";
            receipt_id: string;
            receipt_version: number;
            /** @description Enough to compute the receipt again; null for a receipt that could not be calculated */
            lineage: components["schemas"]["Lineage"] | null;
            /** @description Why there is no lineage */
            explanation: string | null;
            /** @description Null for the first version */
            revision: components["schemas"]["Revision"] | null;
        };
        /** @description Enough to compute a receipt again */
        Lineage: {
            /** @constant */
            object: "gw.lineage";
            methodology: string;
            methodology_version: string;
            methodology_hash: string;
            /** @description Which call it is of */
            call?: {
                /** @description Of the receipt, as the next five */
                id: string;
                version: number;
                created_at: string;
                model: string;
                provider: string | null;
                region: string | null;
                /** @description What it is charged to; absent: nothing is named */
                project?: string;
                /** @description Which deployment answered; null if that is not known */
                deployment: string | null;
            };
            /** @description Everything that the numbers follow from, beside the methodology */
            facts: {
                /** @enum {string} */
                requestedTier: "auto" | "proxy" | "parametric" | "telemetry";
                /** @enum {string} */
                boundary: "comprehensive" | "narrow";
                requestedAt: string;
                usage: {
                    promptTokens: number;
                    cachedPromptTokens: number;
                    completionTokens: number;
                    /** @enum {string} */
                    estimated?: "prompt" | "completion" | "both";
                    outsideCounts?: number;
                } | null;
                upstreamLatencyS: number | null;
                /** @description As `telemetry` below, in the words of the package */
                telemetry?: {
                    [key: string]: unknown;
                } | null;
                telemetryFollows?: boolean;
                /** @constant */
                isCutShort?: true;
                /** @constant */
                simulated?: true;
                model: {
                    /** @enum {string} */
                    kind: "chat" | "embedding";
                    activeParametersB: {
                        min: number;
                        max: number;
                    } | null;
                    totalParametersB: {
                        min: number;
                        max: number;
                    } | null;
                    modelClass: string | null;
                    quantizationBits: number | null;
                    tokensPerS: number | null;
                    ttftS: number | null;
                    parametersSource?: string | null;
                    /** @description The last change of the entry in the catalogue */
                    entry?: {
                        catalogueVersion: number;
                        changedAt: string;
                        changedBy: string;
                    };
                };
                site: {
                    /** @description The deployment */
                    id?: string;
                    pue: number;
                    wueOnsiteLPerKwh: number | null;
                    accelerators?: {
                        model: string;
                        count: number;
                    } | null;
                    pueEvidence?: {
                        /** @enum {string} */
                        kind: "measured" | "reported" | "assumed";
                        /** @description A text or an address */
                        source: string;
                        /** @description The interval that the figure is of; null: not stated */
                        period: string | null;
                    } | null;
                    wueEvidence?: {
                        /** @enum {string} */
                        kind: "measured" | "reported" | "assumed";
                        /** @description A text or an address */
                        source: string;
                        /** @description The interval that the figure is of; null: not stated */
                        period: string | null;
                    } | null;
                    /** @description The last change of the entry in the catalogue */
                    entry?: {
                        catalogueVersion: number;
                        changedAt: string;
                        changedBy: string;
                    };
                    /** @description The last change of the entry in the catalogue */
                    regionEntry?: {
                        catalogueVersion: number;
                        changedAt: string;
                        changedBy: string;
                    };
                };
                grid: {
                    zone: string;
                    gPerKwh: number;
                    source: string;
                    /** @enum {string} */
                    signal: "average" | "marginal" | "forecast" | "annual";
                    periodStart: string;
                    periodEnd: string;
                    observedAt: string;
                    temporalMatch: ("live_window" | "fresh" | "forecast" | "prior_week" | "annual_fallback" | "none") | null;
                    waterLPerKwh: number | null;
                    /** @enum {string} */
                    basis?: "lifecycle" | "direct" | "unknown";
                    isEstimated?: boolean;
                    waterSource?: string;
                    fetchedAt?: string;
                    replySha256?: string;
                    edition?: string;
                };
            };
            /** @description Who vouches for the facts */
            sources: {
                /** @description As the inputs of the steps name it */
                source: string;
                /** @description Whose word it is; null: nobody is known */
                vouched_by: string | null;
                /** @description When it was entered or said */
                since: string | null;
                /** @description In which the entry of the catalogue changed last */
                catalogue_version: number | null;
                evidence: {
                    of: string;
                    /** @enum {string} */
                    kind: "measured" | "reported" | "assumed";
                    /** @description A text or an address */
                    source: string;
                    /** @description The interval that the figure is of; null: not stated */
                    period: string | null;
                }[];
                /** @description SHA-256 of what the source said, in hexadecimal */
                sha256: string | null;
            }[];
            /** @description What kind of calculation it is; it determines the steps */
            calculation: {
                /** @enum {string} */
                tier: "proxy" | "parametric" | "telemetry";
                /** @enum {string} */
                boundary: "comprehensive" | "narrow";
                /** @enum {string} */
                model_kind: "chat" | "embedding";
                /** @description What gives the parts that were not measured, and what a measured figure is compared with */
                modelled_by: ("parametric" | "proxy") | null;
                /** @description Whether the parameter counts are a range, computed at both ends */
                parameter_range: boolean;
                model_class: string | null;
                measured: {
                    /** @enum {string} */
                    scope: "total" | "accelerator";
                    /** @description Unit of the stated figure; null if it came in Wh */
                    unit: string | null;
                    /** @enum {string} */
                    bounds: "measurement" | "estimate" | "stated";
                    includes_pue: boolean | null;
                } | null;
                /**
                 * @description What is not known, so that a measured figure is compared with no modelled energy; absent: it is, or was
                 * @enum {string}
                 */
                uncompared?: "model" | "tokens";
                /**
                 * @description The token counts that were estimated from text and widen the bounds; absent: none
                 * @enum {string}
                 */
                estimated_counts?: "prompt" | "completion" | "both";
                /**
                 * @description The reply broke off: what was generated without being delivered is not counted; absent: it was whole
                 * @constant
                 */
                cut_short?: true;
            };
            tier_reason: string;
            boundary_excludes: string[];
            /** @description Null where nobody counted the tokens of a measured call */
            prompt_tokens: number | null;
            completion_tokens: number | null;
            /** @enum {string} */
            energy_split: "modelled" | "measured" | "unavailable";
            uncertainty_basis: string;
            /** @description Which grid value was used */
            grid: {
                zone: string;
                source: string;
                /** @enum {string} */
                signal: "average" | "forecast" | "annual";
                /** @description What the source itself says about the match */
                stated_match: ("live_window" | "fresh" | "forecast" | "prior_week" | "annual_fallback" | "none") | null;
                /** @description The interval that the value is for: start and end, the end exclusive */
                period: string;
                /** @description Whose the water factor is; of the world, where there is none for the zone */
                water_source: string;
                /**
                 * @description What the intensity counts; absent before gw-1.4, as the next two
                 * @enum {string}
                 */
                basis?: "lifecycle" | "combustion" | "unknown";
                /** @description The year of a yearly value; null for any other */
                vintage?: number | null;
                /** @description Whether the source itself calls the value an estimate */
                is_estimated?: boolean;
            };
            /** @description Measured energy of this call, used or refused */
            telemetry: {
                /** @description Whether the receipt's energy is this figure */
                used: boolean;
                /** @enum {string} */
                energy_source: "provider_reported" | "provider_estimated" | "own_counters" | "simulated";
                source: string;
                /** @description Why the figure was not taken */
                refused: string | null;
                scope: string | null;
                includes_pue: boolean | null;
                duration_s: number | null;
                attribution: string | null;
                interval_s: number | null;
                stated: {
                    field: string;
                    value: number;
                    unit: string;
                    tokens: {
                        call: number;
                        all: number;
                    } | null;
                    range: {
                        min: number;
                        max: number;
                    } | null;
                } | null;
                /** @description What the source said, bounded in size */
                raw: unknown;
            } | null;
            /** @description What the deployment states; the formulas model H100s whatever stands here */
            accelerators?: {
                model: string;
                count: number;
            };
            /** @description Wh. The modelled energy of what was measured; absent: nothing was, or nothing of it can be modelled */
            modelled_energy_wh?: number;
            /**
             * @description The provider was a simulator: the numbers follow from facts that it made up; absent: it was none
             * @constant
             */
            simulated?: true;
            /** @description In an order in which each can be evaluated */
            steps: components["schemas"]["LineageStep"][];
            /** @description SHA-256 over `call`, `facts` and `methodology_hash` as JSON by RFC 8785, from which all of the above follows; `lineage_digest` of the receipt */
            digest: string;
        };
        /** @description One formula with what went into it and what came out */
        LineageStep: {
            /** @description A field of the receipt, or a step on the way. `@low` and `@high` are bounds, `@min` and `@max` the ends of a range of parameter counts, `@modelled` what a measured figure is compared with */
            id: string;
            /** @description The formula as the methodology publishes it */
            formula: string;
            /** @description The formula to evaluate, where the published one is written for readers; else null */
            evaluated_as: string | null;
            /** @description Whose formula it is */
            origin: string;
            inputs: {
                name: string;
                /** @description Null: unknown, and every operation on it is unknown too */
                value: number | null;
                unit: string;
                /** @description `step` and the id of the step that gives it, or whose fact it is (`sources`) */
                source: string;
                /** @description Where in `facts` it stands; null: a step gives it, or it follows from several facts */
                fact: string | null;
            }[];
            factors: {
                name: string;
                /** @description Null: unknown, and every operation on it is unknown too */
                value: number | null;
                unit: string;
                source: string;
                version: string | null;
                /** @description Null: the source does not state one */
                licence: string | null;
                /** @description When the source was published: year, month or day; null: not stated */
                date: string | null;
                /** @description Where it is to be found; null: nowhere that all can reach */
                locator: string | null;
                /** @description The factors of the bounds that stand for how far off it can be; null: it is taken as it is */
                uncertainty: string | null;
            }[];
            output: {
                /** @description Null: unknown, and every operation on it is unknown too */
                value: number | null;
                unit: string;
            };
            /** @description Bounds; how they were found says `basis`, as `uncertainty_basis` of the receipt */
            uncertainty: {
                /** @description Null: unknown, and every operation on it is unknown too */
                low: number | null;
                /** @description Null: unknown, and every operation on it is unknown too */
                high: number | null;
                basis: string;
            } | null;
        };
        /** @description Why this version of the receipt was made */
        Revision: {
            /**
             * @description not_measured: the counters of its energy had nothing for this call, so no measurement follows any more
             * @enum {string}
             */
            reason: "recalculated" | "restated" | "measured" | "not_measured";
            /** Format: date-time */
            at: string;
            /** @description Facts that were missing, or that could not be calculated with, and were taken from the catalogue */
            completed: string[];
            /** @description The catalogue that they were taken from */
            catalogue_version: number | null;
            /** @description For a restated receipt: which grid value was replaced */
            grid: {
                replaced_source: string;
                replaced_g_per_kwh: number;
                /** @description The interval that the replaced value was for */
                replaced_period: string;
                /** @enum {string} */
                replaced_signal: "average" | "forecast" | "annual" | "marginal";
                /** @description Which revision of the settled value replaced it */
                revision: number;
                /** @description SHA-256 of the source's reply with the settled value */
                reply_sha256: string;
            } | null;
        };
        /** @description JSON-LD 1.1 with PROV-O, QUDT and DCAT */
        EvidencePack: {
            /** @description The whole context: nothing is fetched */
            "@context": {
                [key: string]: unknown;
            };
            id: string;
            type: string[];
            /** @constant */
            format: "gw.evidence_pack/1";
            /** Format: date-time */
            issued: string;
            account: string;
            /** @description What was asked for */
            selection: {
                [key: string]: unknown;
            };
            /** @description How many receipts of each kind, and how many need a look */
            coverage: {
                [key: string]: unknown;
            };
            /** @description Sums by day, model, provider, region, grid basis, and simulated calls apart */
            aggregates: ({
                type: string[];
            } & {
                [key: string]: unknown;
            })[];
            /** @description With the documents that their hashes are over */
            methodologies: ({
                type: string[];
            } & {
                [key: string]: unknown;
            })[];
            sources: ({
                type: string[];
            } & {
                [key: string]: unknown;
            })[];
            /** @description What was asked for and is not in the pack, with the reason */
            excluded: ({
                type: string[];
            } & {
                [key: string]: unknown;
            })[];
            /** @description The signed checkpoint of the log of the account that the proofs of `receipts` lead to; null before the first */
            log: ({
                checkpoint: components["schemas"]["ReceiptLogCheckpoint"] | null;
            } & {
                [key: string]: unknown;
            }) | null;
            /** @description Every version of each; amounts are decimals as texts */
            receipts: ({
                type: string[];
            } & {
                [key: string]: unknown;
            })[];
            /** @description Which receipts are simulated, degraded, restated, superseded */
            listed: {
                [key: string]: string[];
            };
            /** @description SHA-256 of each part in RFC 8785 form: of each receipt, or of each thousand in a pack of more than a thousand */
            manifest: {
                [key: string]: unknown;
            };
            signature: {
                key: {
                    [key: string]: string;
                };
                /** @description Detached (RFC 7797), Ed25519, over the manifest */
                jws: string;
            };
        } & {
            [key: string]: unknown;
        };
        /** @description So far was the log of the account. Keep it: it binds all before it */
        ReceiptLogCheckpoint: {
            /** @constant */
            format: "gw.receipt_log_checkpoint/1";
            account: string;
            /** @description Entries of the log */
            tree_size: number;
            /** @description Of the Merkle tree over them, as RFC 6962 has it */
            root_hash: string;
            /**
             * Format: date-time
             * @description Of calls before it, all receipts that were stored when it was signed are in these entries
             */
            complete_until: string;
            /** Format: date-time */
            issued: string;
            signature: {
                key: {
                    [key: string]: string;
                };
                /** @description Detached (RFC 7797), Ed25519, over all the rest of the checkpoint by RFC 8785 */
                jws: string;
            };
        };
        /** @description A pack that is built beside the call that asked for it */
        EvidencePackJob: {
            /** @constant */
            object: "gw.evidence_pack_job";
            /** @description `GET /v1/gw/evidence-pack/{id}` says how far it is, and gives the pack when it is ready */
            id: string;
            /** @enum {string} */
            state: "queued" | "building" | "ready" | "failed" | "cancelled" | "expired";
            /** Format: date-time */
            created_at: string;
            /** @description Versions of receipts that are in the pack; begins anew if another instance takes the job up */
            receipts_done: number;
            /** @description Of how many; null: not counted yet */
            receipts_total: number | null;
            /** @enum {string} */
            format: "jsonld" | "csv" | "parquet";
            /** @description Length of the pack; null: not ready */
            bytes: number | null;
            /** @description Until then it can be had; null: not ready */
            expires_at: string | null;
            /** @description Why it failed, in words */
            reason: string | null;
            /** @description Of a table that is ready: its digest, whose it is and what of, signed. `./gw verify FILE --statement` checks it */
            statement: ({
                /** @constant */
                format: "gw.evidence_table/1";
                sha256: string;
            } & {
                [key: string]: unknown;
            }) | null;
        };
        /** @description The constants and formulas that receipts are made by, to the byte */
        Methodology: {
            id: string;
            version: string;
            /** @description What the formulas do not say; a rule that is absent does not hold */
            rules: {
                [key: string]: (number | boolean | string | {
                    [key: string]: string;
                }) | null;
            };
            /** @description Their units and sources are in each lineage */
            constants: {
                [key: string]: unknown;
            };
            /** @description What the functions in formulas mean; absent where the formulas are written for readers alone */
            functions?: {
                [key: string]: string;
            };
            /** @description By id, with `/` and a variant where a step has several formulas */
            steps: {
                [key: string]: {
                    unit: string;
                    formula: string;
                    /** @description Whose formula it is */
                    origin: string;
                };
            };
            /** @description Names in formulas that are facts, with their place in `facts`. As each lineage prints them; absent in methodologies before gw-1.4 */
            inputs?: {
                [key: string]: {
                    unit: string;
                    source: string;
                    fact: string | null;
                };
            };
            /** @description The other names. As each lineage prints them; absent in methodologies before gw-1.4 */
            factors?: {
                [key: string]: {
                    value: number | null;
                    unit: string;
                    source: string;
                    version: string | null;
                    licence: string | null;
                    date: string | null;
                    locator: string | null;
                    uncertainty: string | null;
                };
            };
            /** @description The same of each size class. As each lineage prints them; absent in methodologies before gw-1.4 */
            factorsOfClasses?: {
                [key: string]: {
                    [key: string]: {
                        value: number | null;
                        unit: string;
                        source: string;
                        version: string | null;
                        licence: string | null;
                        date: string | null;
                        locator: string | null;
                        uncertainty: string | null;
                    };
                };
            };
            /** @description The same of the smallest class that a model of each kind can be of. As each lineage prints them; absent in methodologies before gw-1.4 */
            factorsOfKinds?: {
                [key: string]: {
                    [key: string]: {
                        value: number | null;
                        unit: string;
                        source: string;
                        version: string | null;
                        licence: string | null;
                        date: string | null;
                        locator: string | null;
                        uncertainty: string | null;
                    };
                };
            };
            /** @description Factors whose values are facts of the grid. As each lineage prints them; absent in methodologies before gw-1.4 */
            gridFactors?: {
                [key: string]: {
                    unit: string;
                    uncertainty: string | null;
                };
            };
        };
        Usage: {
            /** @constant */
            object: "list";
            data: components["schemas"]["UsageRow"][];
            /** Format: date-time */
            from: string;
            /** Format: date-time */
            to: string;
            /**
             * @description Which version of each receipt: `issued` is the first, as the client saw it; `restated` the newest
             * @default restated
             * @enum {string}
             */
            version: "issued" | "restated";
            /**
             * @description Whether `total` counts simulated calls; they have rows of their own either way
             * @default exclude
             * @enum {string}
             */
            simulated: "exclude" | "include";
            /** @enum {string} */
            interval: "day" | "month" | "total";
            group_by: ("key_id" | "project" | "model" | "provider" | "region" | "tier" | "status" | "grid_basis")[];
            total: components["schemas"]["UsageTotal"];
        };
        UsageRow: {
            /** @constant */
            object: "gw.usage";
            /** @description The UTC day, or the month as 2026-11; absent where `interval` is `total` */
            date?: string;
            /** @description Where `group_by` names it */
            key_id?: string;
            /** @description Where `group_by` names it */
            project?: string | null;
            /** @description Where `group_by` names it */
            model?: string;
            /** @description Where `group_by` names it */
            provider?: string | null;
            /** @description Where `group_by` names it */
            region?: string | null;
            /**
             * @description Where `group_by` names it
             * @enum {string}
             */
            tier?: "proxy" | "parametric" | "telemetry" | "degraded";
            /**
             * @description Where `group_by` names it
             * @enum {string}
             */
            status?: "pending" | "complete" | "client_aborted" | "upstream_error";
            /** @description Whether a simulator answered these calls; they are in no row with others */
            simulated: boolean;
            /** @description Calls with a receipt */
            requests: number;
            /** @description Of those, calls whose energy was measured (`tier`: `telemetry`) */
            requests_measured: number;
            /** @description Calls of models whose size is known (`parametric`) */
            requests_modelled: number;
            /** @description Calls of which something better was not known (`proxy`) */
            requests_estimated: number;
            /** @description Calls whose receipt has no numbers (`degraded`) */
            requests_degraded: number;
            /** @description Calls that the client left or the provider broke off */
            requests_aborted: number;
            /** @description Exact sum of what is known; null if it is above 2^53 - 1, which no JSON number tells exactly */
            prompt_tokens: number | null;
            /** @description Exact sum of what is known; null if it is above 2^53 - 1, which no JSON number tells exactly */
            completion_tokens: number | null;
            /** @description Wh. Sum of what is known; null if nothing is */
            energy_wh: number | null;
            /** @description Wh. Sum of the lower bounds, as if all were off in the same direction; so are the other bounds. Sum of what is known; null if nothing is */
            energy_low_wh: number | null;
            /** @description Wh. Sum of the upper bounds. Sum of what is known; null if nothing is */
            energy_high_wh: number | null;
            /** @description gCO2e, location-based. Sum of what is known; null if nothing is */
            carbon_g: number | null;
            /** @description gCO2e. Sum of the lower bounds. Sum of what is known; null if nothing is */
            carbon_low_g: number | null;
            /** @description gCO2e. Sum of the upper bounds. Sum of what is known; null if nothing is */
            carbon_high_g: number | null;
            /** @description gCO2e. The part of `carbon_g` that is of the electricity. Sum of what is known; null if nothing is */
            carbon_operation_g: number | null;
            /** @description gCO2e. The part of `carbon_g` that is of making the hardware. Sum of what is known; null if nothing is */
            carbon_embodied_g: number | null;
            /** @description mL. Sum of what is known; null if nothing is */
            water_ml: number | null;
            /** @description mL. Sum of the lower bounds. Sum of what is known; null if nothing is */
            water_low_ml: number | null;
            /** @description mL. Sum of the upper bounds. Sum of what is known; null if nothing is */
            water_high_ml: number | null;
            /** @description gCO2e that the choice of regions saved: sum of `estimated_saving_g` of the routing traces, unknown where nobody can tell; negative if it cost more than it saved. An estimate, and in no other sum. Sum of what is known; null if nothing is */
            carbon_saved_g: number | null;
            /** @description gCO2e, market-based: contracts, certificates and residual mix in place of the average of the grid, as far as operators have entered some; else as `carbon_g`. Sum of what is known; null if nothing is */
            carbon_market_g: number | null;
            /** @description Wh. The part of `energy_wh` that contracts and certificates cover. Sum of what is known; null if nothing is */
            energy_contracted_wh: number | null;
            /** @description In `currency`: tokens at the prices of their hours, without discounts for cached tokens. Sum of what is known; null if nothing is */
            cost: number | null;
            /** @description ISO 4217, of `cost`: one for the whole gateway */
            currency: string;
            /** @description Wh. The part of `energy_wh` that is of calls in `requests_aborted`. Sum of what is known; null if nothing is */
            energy_aborted_wh: number | null;
            /** @description What the carbon counts, as `grid_basis` of the receipts; `mixed`: sums of different things, which `group_by=grid_basis` tells apart; null: there are no numbers */
            grid_basis: ("lifecycle" | "combustion" | "unknown" | "mixed") | null;
            /** @description Name of a sum → calls whose value is unknown, and in no sum; where there are some. `cost`: whose tokens or price are unknown */
            missing: {
                [key: string]: number;
            };
        };
        /** @description All rows, without those of simulated calls unless `simulated` is `include` */
        UsageTotal: {
            /** @description Calls with a receipt */
            requests: number;
            /** @description Of those, calls whose energy was measured (`tier`: `telemetry`) */
            requests_measured: number;
            /** @description Calls of models whose size is known (`parametric`) */
            requests_modelled: number;
            /** @description Calls of which something better was not known (`proxy`) */
            requests_estimated: number;
            /** @description Calls whose receipt has no numbers (`degraded`) */
            requests_degraded: number;
            /** @description Calls that the client left or the provider broke off */
            requests_aborted: number;
            /** @description Exact sum of what is known; null if it is above 2^53 - 1, which no JSON number tells exactly */
            prompt_tokens: number | null;
            /** @description Exact sum of what is known; null if it is above 2^53 - 1, which no JSON number tells exactly */
            completion_tokens: number | null;
            /** @description Wh. Sum of what is known; null if nothing is */
            energy_wh: number | null;
            /** @description Wh. Sum of the lower bounds, as if all were off in the same direction; so are the other bounds. Sum of what is known; null if nothing is */
            energy_low_wh: number | null;
            /** @description Wh. Sum of the upper bounds. Sum of what is known; null if nothing is */
            energy_high_wh: number | null;
            /** @description gCO2e, location-based. Sum of what is known; null if nothing is */
            carbon_g: number | null;
            /** @description gCO2e. Sum of the lower bounds. Sum of what is known; null if nothing is */
            carbon_low_g: number | null;
            /** @description gCO2e. Sum of the upper bounds. Sum of what is known; null if nothing is */
            carbon_high_g: number | null;
            /** @description gCO2e. The part of `carbon_g` that is of the electricity. Sum of what is known; null if nothing is */
            carbon_operation_g: number | null;
            /** @description gCO2e. The part of `carbon_g` that is of making the hardware. Sum of what is known; null if nothing is */
            carbon_embodied_g: number | null;
            /** @description mL. Sum of what is known; null if nothing is */
            water_ml: number | null;
            /** @description mL. Sum of the lower bounds. Sum of what is known; null if nothing is */
            water_low_ml: number | null;
            /** @description mL. Sum of the upper bounds. Sum of what is known; null if nothing is */
            water_high_ml: number | null;
            /** @description gCO2e that the choice of regions saved: sum of `estimated_saving_g` of the routing traces, unknown where nobody can tell; negative if it cost more than it saved. An estimate, and in no other sum. Sum of what is known; null if nothing is */
            carbon_saved_g: number | null;
            /** @description gCO2e, market-based: contracts, certificates and residual mix in place of the average of the grid, as far as operators have entered some; else as `carbon_g`. Sum of what is known; null if nothing is */
            carbon_market_g: number | null;
            /** @description Wh. The part of `energy_wh` that contracts and certificates cover. Sum of what is known; null if nothing is */
            energy_contracted_wh: number | null;
            /** @description In `currency`: tokens at the prices of their hours, without discounts for cached tokens. Sum of what is known; null if nothing is */
            cost: number | null;
            /** @description ISO 4217, of `cost`: one for the whole gateway */
            currency: string;
            /** @description Wh. The part of `energy_wh` that is of calls in `requests_aborted`. Sum of what is known; null if nothing is */
            energy_aborted_wh: number | null;
            /** @description What the carbon counts, as `grid_basis` of the receipts; `mixed`: sums of different things, which `group_by=grid_basis` tells apart; null: there are no numbers */
            grid_basis: ("lifecycle" | "combustion" | "unknown" | "mixed") | null;
            /** @description Name of a sum → calls whose value is unknown, and in no sum; where there are some. `cost`: whose tokens or price are unknown */
            missing: {
                [key: string]: number;
            };
        };
        /** @description The keys that evidence packs are signed with, those of before included */
        KeySet: {
            keys: {
                /** @constant */
                kty: "OKP";
                /** @constant */
                crv: "Ed25519";
                x: string;
                /** @description Thumbprint of the key (RFC 7638) */
                kid: string;
                /** @constant */
                use: "sig";
                /** @constant */
                alg: "EdDSA";
            }[];
        };
        Budget: {
            id: string;
            /** @constant */
            object: "gw.budget";
            scope: string;
            name: string | null;
            /** @enum {string} */
            unit: "carbon_g" | "energy_wh" | "tokens" | "cost";
            amount: number;
            /** @enum {string} */
            kind: "soft" | "hard";
            /** @enum {string} */
            set_by: "operator" | "organisation";
            /** Format: date-time */
            created_at: string;
            /** @description The UTC month that the next three are of */
            month: string;
            /** @description By calls that have ended */
            used: number;
            /** @description By calls under way; null: the store that counts them does not answer */
            reserved: number | null;
            /** @description Of the amount, used and reserved */
            percent: number;
            /** Format: date-time */
            begins_anew_at: string;
        };
        KeyList: {
            /** @constant */
            object: "list";
            data: components["schemas"]["Key"][];
            has_more: boolean;
            first_id: string | null;
            last_id: string | null;
        };
        Key: {
            /** @description The public part of the key; may be shown and logged */
            id: string;
            /** @constant */
            object: "gw.api_key";
            name: string;
            /**
             * @description `revoked` wins over `expired`
             * @enum {string}
             */
            state: "active" | "revoked" | "expired";
            /** @description What the key may do, with the tier that the account has now */
            scopes: ("inference:read" | "inference:write" | "gw:read" | "gw:lineage" | "gw:export" | "admin:keys")[];
            /** Format: date-time */
            created_at: string;
            /** @description With the tier that the account has now: on Audit no expiry holds */
            expires_at: string | null;
            revoked_at: string | null;
            /** @description Until then a revocation can be taken back; null: there is none */
            restorable_until: string | null;
            /** @description UTC day of the last call; null: not used yet */
            last_used_on: string | null;
            /** @description What the key may take of the limits of its account; a null in it, or null: all of it */
            limits: components["schemas"]["KeyLimits"] | null;
            /** @description What its calls are charged to, whatever they name themselves; null: what they name */
            project: string | null;
            /** @description Id of the key that this one succeeds */
            predecessor: string | null;
        };
        KeyRotateRequest: {
            /** @description Default: the name of the predecessor */
            name?: string;
            /** @description Default: the scopes of the predecessor */
            scopes?: ("inference:read" | "inference:write" | "gw:read" | "gw:lineage" | "gw:export" | "admin:keys")[];
            expires_at?: string | null;
        };
        EvidencePackRequest: {
            /** @description Inclusive, by the time of the call; a UTC date or an RFC 3339 time */
            from?: string;
            /** @description Exclusive */
            to?: string;
            /** @description These alone, and of them those from `from` to `to` if that is given */
            receipt_ids?: string[];
            model?: string;
            region?: string;
            /**
             * @description With the lineage of each receipt, so that its numbers can be made again; needs `gw:lineage` too
             * @default false
             */
            include_lineage: boolean;
            /**
             * @description `csv` and `parquet` are tables of the receipts alone, which a job makes; its `statement` has their digest, signed
             * @default jsonld
             * @enum {string}
             */
            format: "jsonld" | "csv" | "parquet";
            /** @description `tree_size` of a checkpoint that was kept: with a proof that the log of the account goes on from it */
            earlier_tree_size?: number;
        };
        Error: {
            error: {
                /** @description Stable; see x-error-catalogue */
                code: string;
                /** @enum {string} */
                type: "auth_error" | "validation_error" | "rate_limit_error" | "inference_error" | "region_unavailable" | "policy_error" | "methodology_error" | "internal_error";
                /** @description For people; may change */
                message: string;
                /** @description JSON path of the field at fault */
                param: string | null;
                /** @description A page for people about the code */
                doc_url: string;
            };
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    get_openapi_json: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        openapi: "3.1.0";
                        paths: {
                            [key: string]: unknown;
                        };
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_healthz: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description `degraded`: records were altered, were not checked for too long, or could not be stored; `unavailable`: a part is missing
                         * @enum {string}
                         */
                        status: "ok" | "degraded" | "unavailable";
                        postgres: boolean;
                        redis: boolean;
                        catalogue: boolean;
                        /** @description Null: not known */
                        audit_chain_faults: number | null;
                        /** @description Null: not known */
                        receipt_integrity_faults: number | null;
                        /** @description Null: not known */
                        receipt_log_faults: number | null;
                        /** @description Null: not known */
                        integrity_check_overdue: boolean | null;
                        /** @description Receipts that wait in Redis for Postgres. Null: not known */
                        ledger_waiting: number | null;
                        /** @description Entries that could not be stored and wait for a human. Null: not known */
                        ledger_set_aside: number | null;
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_metrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_operator_v1_live: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "live";
                        /** Format: date-time */
                        at: string;
                        /** @description Rates and times are of what ended in these last seconds, or since a sidecar began */
                        window_s: number;
                        /** @description That have reported in the last seconds. 0: nothing is known, and all rates are null */
                        sidecars: number;
                        /** @description Calls that reached a provider: each has a receipt */
                        calls_per_s: number | null;
                        /** @description Of them those whose provider answered with an error, also one of the request, or broke off */
                        failed_per_s: number | null;
                        /** @description Of them those that their client left */
                        aborted_per_s: number | null;
                        /** @description Of them those whose receipt has no numbers */
                        degraded_per_s: number | null;
                        /** @description Requests that were refused (4xx) and reached no provider: without a valid key, over a limit, malformed, of something that is not there … Not those that Envoy answers alone: unknown paths and methods */
                        refused_per_s: number | null;
                        /** @description Requests that failed in the gateway (5xx) and reached no provider */
                        errors_per_s: number | null;
                        open_streams: number | null;
                        /** @description From when the provider is asked until its reply is whole; right to a tenth. null: no call has ended */
                        latency_ms: {
                            p50: number;
                            p99: number;
                        } | null;
                        /** @description What the gateway took of a call beside that; null: no call has ended of which Envoy told it */
                        overhead_ms: {
                            p50: number;
                            p99: number;
                        } | null;
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_session: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "session";
                        id: string;
                        name: string;
                        /** @constant */
                        kind: "operator";
                        /** @enum {string} */
                        role: "viewer" | "support" | "admin";
                    } | {
                        /** @constant */
                        object: "session";
                        id: string;
                        name: string;
                        /** @constant */
                        kind: "organisation_admin";
                        account_id: string;
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_session: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    email: string;
                    credential: string;
                    /**
                     * @default operator
                     * @enum {string}
                     */
                    as?: "operator" | "organisation_admin";
                    /** @description Of the second factor: 6 digits */
                    code?: string;
                };
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "session";
                        id: string;
                        name: string;
                        /** @constant */
                        kind: "operator";
                        /** @enum {string} */
                        role: "viewer" | "support" | "admin";
                        /** Format: date-time */
                        expires_at: string;
                    } | {
                        /** @constant */
                        object: "session";
                        id: string;
                        name: string;
                        /** @constant */
                        kind: "organisation_admin";
                        account_id: string;
                        /** Format: date-time */
                        expires_at: string;
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    delete_session: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    delete_session_all: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    put_session_credential: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    current: string;
                    next: string;
                    /** @description Of the second factor: 6 digits */
                    code?: string;
                };
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_session_second_factor: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "second_factor";
                        /** @description null: logins ask for no code */
                        set_at: string | null;
                        /** @description false: the control plane has no GW_CREDENTIALS_KEY, or the person no credential to log in with */
                        can_be_set: boolean;
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    put_session_second_factor: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Of the second factor: 6 digits */
                    code: string;
                };
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_session_second_factor: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    credential: string;
                };
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "second_factor";
                        /** @description Base32, for an authenticator; shown once */
                        secret: string;
                        /** @description The same as `otpauth://totp/…`, for a QR code */
                        uri: string;
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_session_second_factor_remove: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    credential: string;
                    /** @description Of the second factor: 6 digits */
                    code: string;
                };
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_operator_v1_operators: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "list";
                        data: components["schemas"]["ListedOperator"][];
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_operator_v1_operators: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    name: string;
                    email: string;
                    /** @enum {string} */
                    role: "viewer" | "support" | "admin";
                };
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        /** @constant */
                        object: "operator";
                        name: string;
                        email: string;
                        /** @enum {string} */
                        role: "viewer" | "support" | "admin";
                        /** @enum {string} */
                        state: "enabled" | "disabled";
                        /** @description How the person can log in */
                        logins: ("credential" | "oidc")[];
                        /** Format: date-time */
                        created_at: string;
                        /** @description Shown once */
                        credential: string;
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    patch_operator_v1_operators_id: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    name?: string;
                    /** @enum {string} */
                    role?: "viewer" | "support" | "admin";
                };
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Operator"];
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_operator_v1_operators_id_disable: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never> | null;
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Operator"];
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_operator_v1_operators_id_enable: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never> | null;
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Operator"];
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_operator_v1_operators_id_reset_credential: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never> | null;
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        /** @constant */
                        object: "operator";
                        name: string;
                        email: string;
                        /** @enum {string} */
                        role: "viewer" | "support" | "admin";
                        /** @enum {string} */
                        state: "enabled" | "disabled";
                        /** @description How the person can log in */
                        logins: ("credential" | "oidc")[];
                        /** Format: date-time */
                        created_at: string;
                        /** @description Shown once */
                        credential: string;
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_operator_v1_operators_id_unbind_identity: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never> | null;
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Operator"];
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_operator_v1_operators_id_tokens: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "list";
                        data: {
                            id: string;
                            /** @constant */
                            object: "operator_token";
                            operator_id: string;
                            name: string;
                            /** Format: date-time */
                            created_at: string;
                            expires_at: string | null;
                        }[];
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_operator_v1_operators_id_tokens: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    name: string;
                    /** @default 90 */
                    days?: number;
                };
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        /** @constant */
                        object: "operator_token";
                        operator_id: string;
                        name: string;
                        /** Format: date-time */
                        created_at: string;
                        expires_at: string | null;
                        /** @description Shown once */
                        token: string;
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    delete_operator_v1_operators_id_tokens_token_id: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
                token_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        /** @constant */
                        object: "operator_token";
                        operator_id: string;
                        name: string;
                        /** Format: date-time */
                        created_at: string;
                        expires_at: string | null;
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_operator_v1_audit: {
        parameters: {
            query?: {
                chain?: string;
                from?: string;
                to?: string;
                actor?: string;
                action?: string;
                after?: number;
                order?: "asc" | "desc";
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "list";
                        data: {
                            /** @description From 1, without gaps */
                            seq: number;
                            /** Format: date-time */
                            at: string;
                            actor: {
                                /** @enum {string} */
                                kind: "operator" | "organisation_admin" | "api_key" | "system";
                                /** @description Of an API key its id; of the system the job's name */
                                id: string;
                                name: string | null;
                            };
                            action: string;
                            /** @description What it was done to, for example `key:<id>` */
                            target: string;
                            request_id: string | null;
                            before: unknown;
                            after: unknown;
                            /** @description Hash of the entry before; zeros for the first */
                            prev_hash: string;
                            /** @description SHA-256 of the RFC 8785 form of the entry without `id`, `object` and `hash`, but with `chain`: the account id. Note it: whoever holds a hash can prove that nothing before it was changed */
                            hash: string;
                            chain: string;
                        }[];
                        has_more: boolean;
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_operator_v1_audit_heads: {
        parameters: {
            query?: {
                after?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "list";
                        data: {
                            chain: string;
                            seq: number;
                            hash: string | null;
                        }[];
                        has_more: boolean;
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_organisation_v1_audit_log: {
        parameters: {
            query?: {
                limit?: number;
                after?: string;
                order?: "asc" | "desc";
                from?: string;
                to?: string;
                actor?: string;
                action?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditList"];
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_operator_v1_accounts: {
        parameters: {
            query?: {
                state?: "onboarding" | "active" | "suspended" | "closed";
                tier?: "audit" | "audit_plus" | "enterprise";
                search?: string;
                after?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "list";
                        data: components["schemas"]["OperatorAccount"][];
                        has_more: boolean;
                        first_id: string | null;
                        last_id: string | null;
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_operator_v1_accounts_accountId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                accountId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperatorAccount"];
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    patch_operator_v1_accounts_accountId: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                accountId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    name?: string;
                    /** @enum {string} */
                    tier?: "audit" | "audit_plus" | "enterprise";
                    limits?: {
                        per_s: number;
                        burst: number;
                        per_day: number;
                        streams?: number | null;
                    } | null;
                    shadow?: ("rate" | "day" | "streams")[];
                    models?: string[] | null;
                    tolerance?: {
                        added_latency_ms?: number | null;
                        added_cost_percent?: number | null;
                    };
                    reason?: string;
                    /** @description Settings as they were seen; if one of them is another meanwhile, nothing is changed (409) */
                    seen?: {
                        name?: string;
                        /** @enum {string} */
                        tier?: "audit" | "audit_plus" | "enterprise";
                        /** @description What holds for the account */
                        limits?: {
                            /** @description Requests per second */
                            per_s: number;
                            /** @description Requests at once */
                            burst: number;
                            /** @description Requests per UTC day */
                            per_day: number;
                            /** @description Open at once */
                            streams: number;
                        };
                        /** @description The only models and aliases that it may use; null: every one */
                        models?: string[] | null;
                        /** @description How much slower or dearer a region may be than the preferred one, to be chosen for its carbon intensity */
                        tolerance?: {
                            /** @description Null: any */
                            added_latency_ms: number | null;
                            /** @description Null: any */
                            added_cost_percent: number | null;
                        };
                        /** @description Limits that are counted and reported, and refuse nothing */
                        shadow?: ("rate" | "day" | "streams")[];
                    };
                };
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperatorAccount"];
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_operator_v1_accounts_accountId_suspend: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                accountId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    reason: string;
                };
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperatorAccount"];
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_operator_v1_accounts_accountId_reinstate: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                accountId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    reason: string;
                    /** @default false */
                    accepts_match?: boolean;
                };
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperatorAccount"];
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_operator_v1_accounts_accountId_admins: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                accountId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "list";
                        data: components["schemas"]["ListedOrganisationAdmin"][];
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_operator_v1_accounts_accountId_admins: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                accountId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    name: string;
                    email: string;
                };
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        /** @constant */
                        object: "organisation_admin";
                        account_id: string;
                        name: string;
                        email: string;
                        /** @enum {string} */
                        state: "enabled" | "disabled";
                        /** Format: date-time */
                        created_at: string;
                        /** @description Shown once */
                        credential: string;
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_operator_v1_accounts_accountId_admins_id_disable: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                accountId: string;
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never> | null;
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrganisationAdmin"];
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_operator_v1_accounts_accountId_admins_id_enable: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                accountId: string;
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never> | null;
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrganisationAdmin"];
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_operator_v1_accounts_accountId_admins_id_reset_credential: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                accountId: string;
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never> | null;
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        /** @constant */
                        object: "organisation_admin";
                        account_id: string;
                        name: string;
                        email: string;
                        /** @enum {string} */
                        state: "enabled" | "disabled";
                        /** Format: date-time */
                        created_at: string;
                        /** @description Shown once */
                        credential: string;
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_organisation_v1_account: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        /** @constant */
                        object: "gw.account";
                        name: string;
                        /** @enum {string} */
                        tier: "audit" | "audit_plus" | "enterprise";
                        /** @enum {string} */
                        state: "onboarding" | "active" | "suspended" | "closed";
                        /** @description What its keys can be granted with its tier */
                        scopes: ("inference:read" | "inference:write" | "gw:read" | "gw:lineage" | "gw:export" | "admin:keys")[];
                        /** @description What holds for the account */
                        limits: {
                            /** @description Requests per second */
                            per_s: number;
                            /** @description Requests at once */
                            burst: number;
                            /** @description Requests per UTC day */
                            per_day: number;
                            /** @description Open at once */
                            streams: number;
                        };
                        /** @description Limits that are counted and reported, and refuse nothing */
                        shadow: ("rate" | "day" | "streams")[];
                        /** @description Calls of this UTC day, as `limits.per_day` counts them; null: nobody can say now */
                        used_today: number | null;
                        /** Format: date-time */
                        created_at: string;
                        /**
                         * Format: uri
                         * @description Where its clients reach the gateway, without `/v1`
                         */
                        base_url: string;
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_operator_v1_use_policy: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        version: string;
                        prohibited_uses: {
                            id: string;
                            title: string;
                            phrases: string[];
                        }[];
                        dual_use: {
                            phrases: string[];
                            countries: string[];
                        };
                        industries: {
                            id: string;
                            title: string;
                            high_risk: boolean;
                        }[];
                        sha256: string;
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_operator_v1_applications: {
        parameters: {
            query?: {
                stage?: "account_created" | "use_screening" | "sanctions_screening" | "manual_review" | "contract_pending" | "key_pending" | "complete" | "rejected" | "expired" | "use_match" | "sanctions_match";
                limit?: number;
                after?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "list";
                        data: components["schemas"]["Application"][];
                        has_more: boolean;
                        first_id: string | null;
                        last_id: string | null;
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_operator_v1_applications: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    name: string;
                    /** @enum {string} */
                    tier: "audit" | "audit_plus" | "enterprise";
                    billing_contact: {
                        name: string;
                        /** Format: email */
                        email: string;
                    };
                    technical_contact: {
                        name: string;
                        /** Format: email */
                        email: string;
                    };
                    limits?: {
                        per_s: number;
                        burst: number;
                        per_day: number;
                        streams?: number;
                    };
                };
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Application"];
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_operator_v1_applications_account_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        account_id: string;
                        /** @constant */
                        object: "gw.application";
                        name: string;
                        /** @enum {string} */
                        tier: "audit" | "audit_plus" | "enterprise";
                        /** @enum {string} */
                        stage: "account_created" | "use_screening" | "sanctions_screening" | "manual_review" | "contract_pending" | "key_pending" | "complete" | "rejected" | "expired" | "use_match" | "sanctions_match";
                        billing_contact: {
                            name: string;
                            email: string;
                        };
                        technical_contact: {
                            name: string;
                            email: string;
                        };
                        declaration: components["schemas"]["ApplicationDeclaration"] | null;
                        use_screening: components["schemas"]["UseScreening"] | null;
                        sanctions_screening: components["schemas"]["SanctionsScreening"] | null;
                        /** @description Null until the declaration is screened */
                        high_risk: boolean | null;
                        contract: {
                            sha256: string;
                            reference: string | null;
                            signed_at: string | null;
                        } | null;
                        /** Format: date-time */
                        created_at: string;
                        /** Format: date-time */
                        updated_at: string;
                        /** Format: date-time */
                        expires_at: string;
                        /** @description In the form in which they are hashed */
                        steps: components["schemas"]["ApplicationStep"][];
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_operator_v1_applications_account_id_declaration: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                account_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    intended_use: string;
                    uses: string[];
                    industry: string;
                    countries: string[];
                };
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Application"];
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_operator_v1_applications_account_id_clear_match: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                account_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    reason: string;
                };
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Application"];
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_operator_v1_applications_account_id_reject_match: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                account_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    reason: string;
                };
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Application"];
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_operator_v1_applications_account_id_approve_review: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                account_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    reason: string;
                };
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Application"];
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_operator_v1_applications_account_id_reject_review: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                account_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    reason: string;
                };
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Application"];
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_operator_v1_applications_account_id_contract: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                account_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    sha256: string;
                    reference: string;
                    signed_at: string;
                };
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Application"];
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_operator_v1_applications_account_id_key: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                account_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["KeyCreateRequest"];
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        application: components["schemas"]["Application"];
                        key: components["schemas"]["IssuedKey"];
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_operator_v1_providers_id_test: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    model?: string;
                } | null;
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "provider_test";
                        provider: string;
                        /** @description As the provider knows it */
                        model: string;
                        asked: string;
                        works: boolean;
                        /** @description What came back, and what to do */
                        message: string;
                        /** @description Null: there was no reply */
                        status: number | null;
                        duration_ms: number;
                        /** @description Names of the fields of its usage and of measured energy */
                        fields: string[];
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_operator_v1_providers_id_models: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "provider_models";
                        provider: string;
                        models: {
                            /** @description As the provider knows it */
                            id: string;
                            /** @description Public ids under which deployments of this provider offer it */
                            offered_as: string[];
                            /** @description What its name tells, where nobody has said more */
                            guess: {
                                /** @enum {string} */
                                kind: "chat" | "embedding";
                                total_parameters_b: number | null;
                                active_parameters_b: number | null;
                                model_class: string | null;
                                because: string;
                            };
                        }[];
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_operator_v1_deployment_health: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "list";
                        data: {
                            /** @constant */
                            object: "deployment_trouble";
                            deployment: string;
                            model: string;
                            /**
                             * @description `degraded`: its provider is out of reach; `saturated`: it says that it has too much to do
                             * @enum {string}
                             */
                            status: "degraded" | "saturated";
                            /** @description How many calls in a row it did not answer */
                            failures: number;
                            /**
                             * Format: date-time
                             * @description When the last of them failed
                             */
                            failed_at: string;
                            /**
                             * Format: date-time
                             * @description Until when pinned calls of the model are refused, unless it answers before
                             */
                            until: string;
                        }[];
                        /** @description False: Valkey is away, so nothing is known of any deployment */
                        known: boolean;
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_operator_v1_credentials: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "list";
                        data: {
                            /** @description Providers name it in `credential_ref` */
                            name: string;
                            /** @constant */
                            object: "provider_credential";
                            /**
                             * @description Who gives it
                             * @enum {string}
                             */
                            source: "operator" | "file" | "environment";
                            /** @description Where it is sent, and nowhere else; null: wherever a provider names it */
                            origin: string | null;
                            set_at: string | null;
                            /** @description Whether the one before can be put back */
                            has_previous: boolean;
                            /** @description False: it was set with another GW_CREDENTIALS_KEY */
                            readable: boolean;
                            /** @description Ids of those that name it */
                            providers: string[];
                        }[];
                        has_more: boolean;
                        first_id: string | null;
                        last_id: string | null;
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    put_operator_v1_credentials_name: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    value: string;
                    /** Format: uri */
                    base_url?: string;
                };
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Providers name it in `credential_ref` */
                        name: string;
                        /** @constant */
                        object: "provider_credential";
                        /**
                         * @description Who gives it
                         * @enum {string}
                         */
                        source: "operator" | "file" | "environment";
                        /** @description Where it is sent, and nowhere else; null: wherever a provider names it */
                        origin: string | null;
                        set_at: string | null;
                        /** @description Whether the one before can be put back */
                        has_previous: boolean;
                        /** @description False: it was set with another GW_CREDENTIALS_KEY */
                        readable: boolean;
                        /** @description Ids of those that name it */
                        providers: string[];
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    delete_operator_v1_credentials_name: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        /** @constant */
                        object: "provider_credential";
                        /** @constant */
                        deleted: true;
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_operator_v1_credentials_name_restore: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Providers name it in `credential_ref` */
                        name: string;
                        /** @constant */
                        object: "provider_credential";
                        /**
                         * @description Who gives it
                         * @enum {string}
                         */
                        source: "operator" | "file" | "environment";
                        /** @description Where it is sent, and nowhere else; null: wherever a provider names it */
                        origin: string | null;
                        set_at: string | null;
                        /** @description Whether the one before can be put back */
                        has_previous: boolean;
                        /** @description False: it was set with another GW_CREDENTIALS_KEY */
                        readable: boolean;
                        /** @description Ids of those that name it */
                        providers: string[];
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_operator_v1_policy: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "policy_version";
                        version: number;
                        sha256: string;
                        note: string;
                        /** Format: date-time */
                        created_at: string;
                        /** @description The id of an operator; `system` for the rules that the software came with */
                        created_by: string;
                        rules: ({
                            id: string;
                        } & {
                            [key: string]: unknown;
                        })[];
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_operator_v1_policy_defaults: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "policy_rules";
                        sha256: string;
                        rules: ({
                            id: string;
                            title: string;
                            /** @enum {string} */
                            screen: "dual_use" | "acceptable_use";
                            /** @enum {string} */
                            action: "block" | "flag";
                            enabled: boolean;
                            /** @constant */
                            kind: "phrases";
                            phrases: string[];
                            unless?: string[];
                            before?: string[];
                        } | {
                            id: string;
                            title: string;
                            /** @enum {string} */
                            screen: "dual_use" | "acceptable_use";
                            /** @enum {string} */
                            action: "block" | "flag";
                            enabled: boolean;
                            /** @constant */
                            kind: "pattern";
                            pattern: string;
                            needs: string[];
                        })[];
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_operator_v1_policy_versions: {
        parameters: {
            query?: {
                after?: number;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "list";
                        data: {
                            /** @constant */
                            object: "policy_version";
                            version: number;
                            sha256: string;
                            note: string;
                            /** Format: date-time */
                            created_at: string;
                            /** @description The id of an operator; `system` for the rules that the software came with */
                            created_by: string;
                            rule_count: number;
                        }[];
                        has_more: boolean;
                        first_id: string | null;
                        last_id: string | null;
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_operator_v1_policy_versions: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    based_on: number;
                    note: string;
                    rules?: ({
                        id: string;
                        title: string;
                        /** @enum {string} */
                        screen: "dual_use" | "acceptable_use";
                        /** @enum {string} */
                        action: "block" | "flag";
                        enabled: boolean;
                        /** @constant */
                        kind: "phrases";
                        phrases: string[];
                        unless?: string[];
                        before?: string[];
                    } | {
                        id: string;
                        title: string;
                        /** @enum {string} */
                        screen: "dual_use" | "acceptable_use";
                        /** @enum {string} */
                        action: "block" | "flag";
                        enabled: boolean;
                        /** @constant */
                        kind: "pattern";
                        pattern: string;
                        needs: string[];
                    })[];
                    version?: number;
                };
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "policy_version";
                        version: number;
                        sha256: string;
                        note: string;
                        /** Format: date-time */
                        created_at: string;
                        /** @description The id of an operator; `system` for the rules that the software came with */
                        created_by: string;
                        rules: ({
                            id: string;
                        } & {
                            [key: string]: unknown;
                        })[];
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_operator_v1_policy_versions_version: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                version: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "policy_version";
                        version: number;
                        sha256: string;
                        note: string;
                        /** Format: date-time */
                        created_at: string;
                        /** @description The id of an operator; `system` for the rules that the software came with */
                        created_by: string;
                        rules: ({
                            id: string;
                        } & {
                            [key: string]: unknown;
                        })[];
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    patch_operator_v1_policy_rules_rule: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                rule: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    enabled?: boolean;
                    /** @enum {string} */
                    action?: "block" | "flag";
                    note: string;
                };
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "policy_version";
                        version: number;
                        sha256: string;
                        note: string;
                        /** Format: date-time */
                        created_at: string;
                        /** @description The id of an operator; `system` for the rules that the software came with */
                        created_by: string;
                        rules: ({
                            id: string;
                        } & {
                            [key: string]: unknown;
                        })[];
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_operator_v1_policy_exemptions: {
        parameters: {
            query?: {
                account_id?: string;
                after?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "list";
                        data: {
                            /** @constant */
                            object: "policy_exemption";
                            account_id: string;
                            rule_id: string;
                            reason: string;
                            /** Format: date-time */
                            created_at: string;
                            created_by: string;
                        }[];
                        has_more: boolean;
                        first_id: string | null;
                        last_id: string | null;
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_operator_v1_policy_exemptions: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    account_id: string;
                    rule_id: string;
                    reason: string;
                };
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "policy_exemption";
                        account_id: string;
                        rule_id: string;
                        reason: string;
                        /** Format: date-time */
                        created_at: string;
                        created_by: string;
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    delete_operator_v1_policy_exemptions_accountId_rule: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                accountId: string;
                rule: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never> | null;
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "policy_exemption";
                        account_id: string;
                        rule_id: string;
                        /** @constant */
                        deleted: true;
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_operator_v1_policy_dry_run: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    rules?: ({
                        id: string;
                        title: string;
                        /** @enum {string} */
                        screen: "dual_use" | "acceptable_use";
                        /** @enum {string} */
                        action: "block" | "flag";
                        enabled: boolean;
                        /** @constant */
                        kind: "phrases";
                        phrases: string[];
                        unless?: string[];
                        before?: string[];
                    } | {
                        id: string;
                        title: string;
                        /** @enum {string} */
                        screen: "dual_use" | "acceptable_use";
                        /** @enum {string} */
                        action: "block" | "flag";
                        enabled: boolean;
                        /** @constant */
                        kind: "pattern";
                        pattern: string;
                        needs: string[];
                    })[];
                    version?: number;
                    /** @default [] */
                    samples?: {
                        name?: string;
                        text?: string;
                        body?: {
                            [key: string]: unknown;
                        };
                    }[];
                    account_id?: string;
                };
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "policy_dry_run";
                        rules: {
                            /** @description Null: they are not published */
                            version: number | null;
                            sha256: string;
                            rule_count: number;
                            /** @description What would change if they were published */
                            changes: {
                                added: string[];
                                removed: string[];
                                changed: string[];
                            };
                        };
                        samples: {
                            name: string;
                            /** @enum {string} */
                            outcome: "pass" | "flag" | "block";
                            /** @description Of the error, or of what stands in the audit log; null if nothing holds */
                            code: string | null;
                            matches: {
                                rule: string;
                                /** @enum {string} */
                                screen: "dual_use" | "acceptable_use";
                                /** @enum {string} */
                                action: "block" | "flag";
                                /** @description It does not hold for the account, and has no part in the outcome */
                                exempt: boolean;
                            }[];
                        }[];
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_organisation_v1_models: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelList"];
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_organisation_v1_receipts: {
        parameters: {
            query?: {
                limit?: number;
                after?: string;
                order?: "asc" | "desc";
                model?: string;
                region?: string;
                project?: string;
                version?: "issued" | "restated";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReceiptList"];
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_organisation_v1_receipts_id: {
        parameters: {
            query?: {
                version?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Receipt"];
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_organisation_v1_receipts_id_lineage: {
        parameters: {
            query?: {
                version?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReceiptLineage"] | components["schemas"]["Receipt"];
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_organisation_v1_evidence_pack_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EvidencePack"] | components["schemas"]["EvidencePackJob"];
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    delete_organisation_v1_evidence_pack_id: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EvidencePackJob"];
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_organisation_v1_methodology_hash: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                hash: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Methodology"];
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_organisation_v1_usage: {
        parameters: {
            query?: {
                from?: string;
                to?: string;
                version?: "issued" | "restated";
                simulated?: "exclude" | "include";
                interval?: "day" | "month" | "total";
                format?: "json" | "csv";
                group_by?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Usage"];
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_organisation_v1_evidence_packs: {
        parameters: {
            query?: {
                limit?: number;
                after?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "list";
                        data: {
                            /** @constant */
                            object: "gw.evidence_pack_job";
                            /** @description `GET /v1/gw/evidence-pack/{id}` says how far it is, and gives the pack when it is ready */
                            id: string;
                            /** @enum {string} */
                            state: "queued" | "building" | "ready" | "failed" | "cancelled" | "expired";
                            /** Format: date-time */
                            created_at: string;
                            /** @description Versions of receipts that are in the pack; begins anew if another instance takes the job up */
                            receipts_done: number;
                            /** @description Of how many; null: not counted yet */
                            receipts_total: number | null;
                            /** @enum {string} */
                            format: "jsonld" | "csv" | "parquet";
                            /** @description Length of the pack; null: not ready */
                            bytes: number | null;
                            /** @description Until then it can be had; null: not ready */
                            expires_at: string | null;
                            /** @description Why it failed, in words */
                            reason: string | null;
                            /** @description Of a table that is ready: its digest, whose it is and what of, signed. `./gw verify FILE --statement` checks it */
                            statement: ({
                                /** @constant */
                                format: "gw.evidence_table/1";
                                sha256: string;
                            } & {
                                [key: string]: unknown;
                            }) | null;
                            /** @description What was asked for */
                            selection: {
                                from: string | null;
                                to: string | null;
                                model: string | null;
                                region: string | null;
                                include_lineage: boolean;
                                /** @description How many were named by their ids; null: none was */
                                receipts: number | null;
                            };
                        }[];
                        has_more: boolean;
                        first_id: string | null;
                        last_id: string | null;
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_organisation_v1_evidence_keys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeySet"];
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_operator_v1_receipts_verify: {
        parameters: {
            query?: {
                after_id?: string;
                after_version?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "list";
                        data: {
                            receipt_id: string;
                            version: number;
                            fault: string;
                        }[];
                        /** @description Versions on this page */
                        checked: number;
                        next: {
                            after_id: string;
                            after_version: number;
                        } | null;
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_operator_v1_receipts_set_aside: {
        parameters: {
            query?: {
                after?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "list";
                        data: {
                            /** @description Of the entry in the stream */
                            id: string;
                            /** Format: date-time */
                            set_aside_at: string;
                            reason: string;
                            /** @description Null: the entry does not tell */
                            receipt_id: string | null;
                            account_id: string | null;
                        }[];
                        has_more: boolean;
                        first_id: string | null;
                        last_id: string | null;
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_operator_v1_receipts_set_aside_retry: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never> | null;
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "set_aside_entries";
                        retried: number;
                        /** @description How many more were set aside: call again */
                        left: number;
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_operator_v1_usage: {
        parameters: {
            query?: {
                from?: string;
                to?: string;
                version?: "issued" | "restated";
                simulated?: "exclude" | "include";
                interval?: "day" | "month" | "total";
                format?: "json" | "csv";
                group_by?: string;
                account_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "list";
                        data: {
                            /** @constant */
                            object: "gw.usage";
                            /** @description The UTC day, or the month as 2026-11; absent where `interval` is `total` */
                            date?: string;
                            /** @description Where `group_by` names it */
                            key_id?: string;
                            /** @description Where `group_by` names it */
                            project?: string | null;
                            /** @description Where `group_by` names it */
                            model?: string;
                            /** @description Where `group_by` names it */
                            provider?: string | null;
                            /** @description Where `group_by` names it */
                            region?: string | null;
                            /**
                             * @description Where `group_by` names it
                             * @enum {string}
                             */
                            tier?: "proxy" | "parametric" | "telemetry" | "degraded";
                            /**
                             * @description Where `group_by` names it
                             * @enum {string}
                             */
                            status?: "pending" | "complete" | "client_aborted" | "upstream_error";
                            /** @description Whether a simulator answered these calls; they are in no row with others */
                            simulated: boolean;
                            /** @description Calls with a receipt */
                            requests: number;
                            /** @description Of those, calls whose energy was measured (`tier`: `telemetry`) */
                            requests_measured: number;
                            /** @description Calls of models whose size is known (`parametric`) */
                            requests_modelled: number;
                            /** @description Calls of which something better was not known (`proxy`) */
                            requests_estimated: number;
                            /** @description Calls whose receipt has no numbers (`degraded`) */
                            requests_degraded: number;
                            /** @description Calls that the client left or the provider broke off */
                            requests_aborted: number;
                            /** @description Exact sum of what is known; null if it is above 2^53 - 1, which no JSON number tells exactly */
                            prompt_tokens: number | null;
                            /** @description Exact sum of what is known; null if it is above 2^53 - 1, which no JSON number tells exactly */
                            completion_tokens: number | null;
                            /** @description Wh. Sum of what is known; null if nothing is */
                            energy_wh: number | null;
                            /** @description Wh. Sum of the lower bounds, as if all were off in the same direction; so are the other bounds. Sum of what is known; null if nothing is */
                            energy_low_wh: number | null;
                            /** @description Wh. Sum of the upper bounds. Sum of what is known; null if nothing is */
                            energy_high_wh: number | null;
                            /** @description gCO2e, location-based. Sum of what is known; null if nothing is */
                            carbon_g: number | null;
                            /** @description gCO2e. Sum of the lower bounds. Sum of what is known; null if nothing is */
                            carbon_low_g: number | null;
                            /** @description gCO2e. Sum of the upper bounds. Sum of what is known; null if nothing is */
                            carbon_high_g: number | null;
                            /** @description gCO2e. The part of `carbon_g` that is of the electricity. Sum of what is known; null if nothing is */
                            carbon_operation_g: number | null;
                            /** @description gCO2e. The part of `carbon_g` that is of making the hardware. Sum of what is known; null if nothing is */
                            carbon_embodied_g: number | null;
                            /** @description mL. Sum of what is known; null if nothing is */
                            water_ml: number | null;
                            /** @description mL. Sum of the lower bounds. Sum of what is known; null if nothing is */
                            water_low_ml: number | null;
                            /** @description mL. Sum of the upper bounds. Sum of what is known; null if nothing is */
                            water_high_ml: number | null;
                            /** @description gCO2e that the choice of regions saved: sum of `estimated_saving_g` of the routing traces, unknown where nobody can tell; negative if it cost more than it saved. An estimate, and in no other sum. Sum of what is known; null if nothing is */
                            carbon_saved_g: number | null;
                            /** @description gCO2e, market-based: contracts, certificates and residual mix in place of the average of the grid, as far as operators have entered some; else as `carbon_g`. Sum of what is known; null if nothing is */
                            carbon_market_g: number | null;
                            /** @description Wh. The part of `energy_wh` that contracts and certificates cover. Sum of what is known; null if nothing is */
                            energy_contracted_wh: number | null;
                            /** @description In `currency`: tokens at the prices of their hours, without discounts for cached tokens. Sum of what is known; null if nothing is */
                            cost: number | null;
                            /** @description ISO 4217, of `cost`: one for the whole gateway */
                            currency: string;
                            /** @description Wh. The part of `energy_wh` that is of calls in `requests_aborted`. Sum of what is known; null if nothing is */
                            energy_aborted_wh: number | null;
                            /** @description What the carbon counts, as `grid_basis` of the receipts; `mixed`: sums of different things, which `group_by=grid_basis` tells apart; null: there are no numbers */
                            grid_basis: ("lifecycle" | "combustion" | "unknown" | "mixed") | null;
                            /** @description Name of a sum → calls whose value is unknown, and in no sum; where there are some. `cost`: whose tokens or price are unknown */
                            missing: {
                                [key: string]: number;
                            };
                            /** @description Where `group_by` names it */
                            account_id?: string;
                        }[];
                        /** Format: date-time */
                        from: string;
                        /** Format: date-time */
                        to: string;
                        /**
                         * @description Which version of each receipt: `issued` is the first, as the client saw it; `restated` the newest
                         * @default restated
                         * @enum {string}
                         */
                        version: "issued" | "restated";
                        /**
                         * @description Whether `total` counts simulated calls; they have rows of their own either way
                         * @default exclude
                         * @enum {string}
                         */
                        simulated: "exclude" | "include";
                        /** @enum {string} */
                        interval: "day" | "month" | "total";
                        group_by: ("account_id" | "key_id" | "project" | "model" | "provider" | "region" | "tier" | "status" | "grid_basis")[];
                        total: components["schemas"]["UsageTotal"];
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_operator_v1_grid: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "list";
                        data: {
                            id: string;
                            /** @constant */
                            object: "grid_zone";
                            /** @description Codes of those that are in it; none: a source is configured, and no call is there */
                            regions: string[];
                            /** @description Null: nothing is known, and receipts of these regions are degraded */
                            reading: {
                                g_per_kwh: number;
                                source: string;
                                /** @description Of a yearly average: the package that it is from, with its checksum */
                                edition: string | null;
                                /** @description The year of a yearly average */
                                vintage: number | null;
                                /**
                                 * @description Whether it counts the whole life cycle of power stations, or combustion alone
                                 * @enum {string}
                                 */
                                basis: "lifecycle" | "combustion" | "unknown";
                                /** @description Whether its source calls it an estimate */
                                is_estimated: boolean;
                                /**
                                 * @description How it fits this moment, as receipts say it
                                 * @enum {string}
                                 */
                                temporal_match: "live_window" | "fresh" | "forecast" | "prior_week" | "annual_fallback" | "none";
                                /** Format: date-time */
                                period_start: string;
                                /** Format: date-time */
                                period_end: string;
                                /** Format: date-time */
                                observed_at: string;
                                /** @description Null: it is a forecast */
                                age_minutes: number | null;
                                /** @description When a live source said it */
                                fetched_at: string | null;
                            } | null;
                            /** @description Sources of averages are configured, and none has a value for this moment, so another one stands in for it */
                            too_old: boolean;
                            /** @description Those that this control plane is configured to ask, in order of preference */
                            sources: {
                                /** @enum {string} */
                                source: "electricity-maps" | "watttime" | "neso" | "entsoe";
                                /** @description Its own name for the zone */
                                place: string;
                                /** @description Null: nothing of the last 24 hours */
                                newest: {
                                    g_per_kwh: number;
                                    /** @enum {string} */
                                    signal: "average" | "marginal" | "forecast";
                                    /** Format: date-time */
                                    period_start: string;
                                    /** Format: date-time */
                                    period_end: string;
                                    /** Format: date-time */
                                    observed_at: string;
                                    /**
                                     * Format: date-time
                                     * @description When it said this for the first time
                                     */
                                    fetched_at: string;
                                } | null;
                                /** @description Why it is not asked for a while, such as `unauthorized` */
                                paused: string | null;
                            }[];
                        }[];
                        has_more: boolean;
                        first_id: string | null;
                        last_id: string | null;
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_operator_v1_accounts_accountId_budgets: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                accountId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "list";
                        data: components["schemas"]["Budget"][];
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_operator_v1_accounts_accountId_budgets: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                accountId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @enum {string} */
                    scope: "account" | "key" | "project";
                    /** @description The id of the key, or the name of the project; none for the account */
                    name?: string;
                    /** @enum {string} */
                    unit: "carbon_g" | "energy_wh" | "tokens" | "cost";
                    /** @description For a UTC month, in the unit */
                    amount: number;
                    /** @enum {string} */
                    kind: "soft" | "hard";
                };
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Budget"];
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    delete_operator_v1_accounts_accountId_budgets_id: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                accountId: string;
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        /** @constant */
                        object: "gw.budget";
                        /** @constant */
                        deleted: true;
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    patch_operator_v1_accounts_accountId_budgets_id: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                accountId: string;
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description For a UTC month, in the unit */
                    amount?: number;
                    /** @enum {string} */
                    kind?: "soft" | "hard";
                };
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Budget"];
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_organisation_v1_budgets: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "list";
                        data: components["schemas"]["Budget"][];
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_organisation_v1_budgets: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @enum {string} */
                    scope: "account" | "key" | "project";
                    /** @description The id of the key, or the name of the project; none for the account */
                    name?: string;
                    /** @enum {string} */
                    unit: "carbon_g" | "energy_wh" | "tokens" | "cost";
                    /** @description For a UTC month, in the unit */
                    amount: number;
                    /** @enum {string} */
                    kind: "soft" | "hard";
                };
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Budget"];
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    delete_organisation_v1_budgets_id: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        /** @constant */
                        object: "gw.budget";
                        /** @constant */
                        deleted: true;
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    patch_organisation_v1_budgets_id: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description For a UTC month, in the unit */
                    amount?: number;
                    /** @enum {string} */
                    kind?: "soft" | "hard";
                };
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Budget"];
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_operator_v1_accounts_accountId_budget_webhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                accountId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Of the account */
                        id: string;
                        /** @constant */
                        object: "gw.budget_webhook";
                        url: string;
                        /** Format: date-time */
                        set_at: string;
                        /** @description False: its secret was set with another GW_CREDENTIALS_KEY, and nothing is sent */
                        readable: boolean;
                        /** @description Events that are still to be delivered */
                        waiting: number;
                        /** @description Events that never will be */
                        given_up: number;
                        /** @description The last try since the webhook was set */
                        last_delivery: {
                            /** Format: date-time */
                            at: string;
                            /**
                             * @description failed: it is tried again; given_up: it was tried for 24 hours
                             * @enum {string}
                             */
                            outcome: "delivered" | "failed" | "given_up";
                            /** @description Of HTTP; null: there was no reply */
                            status: number | null;
                            error: string | null;
                            budget: string;
                            month: string;
                            threshold: number;
                        } | null;
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    put_operator_v1_accounts_accountId_budget_webhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                accountId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description https, or http on this machine */
                    url: string;
                };
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Of the account */
                        id: string;
                        /** @constant */
                        object: "gw.budget_webhook";
                        url: string;
                        /** Format: date-time */
                        set_at: string;
                        /** @description False: its secret was set with another GW_CREDENTIALS_KEY, and nothing is sent */
                        readable: boolean;
                        /** @description Events that are still to be delivered */
                        waiting: number;
                        /** @description Events that never will be */
                        given_up: number;
                        /** @description The last try since the webhook was set */
                        last_delivery: {
                            /** Format: date-time */
                            at: string;
                            /**
                             * @description failed: it is tried again; given_up: it was tried for 24 hours
                             * @enum {string}
                             */
                            outcome: "delivered" | "failed" | "given_up";
                            /** @description Of HTTP; null: there was no reply */
                            status: number | null;
                            error: string | null;
                            budget: string;
                            month: string;
                            threshold: number;
                        } | null;
                        /** @description Signs what is sent; shown this once */
                        secret: string;
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    delete_operator_v1_accounts_accountId_budget_webhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                accountId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        /** @constant */
                        object: "gw.budget_webhook";
                        /** @constant */
                        deleted: true;
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_operator_v1_accounts_accountId_keys: {
        parameters: {
            query?: {
                limit?: number;
                after?: string;
                order?: "asc" | "desc";
            };
            header?: never;
            path: {
                accountId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeyList"];
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_operator_v1_accounts_accountId_keys: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                accountId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["KeyCreateRequest"];
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IssuedKey"];
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_operator_v1_accounts_accountId_keys_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                accountId: string;
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Key"];
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    patch_operator_v1_accounts_accountId_keys_id: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                accountId: string;
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    limits?: components["schemas"]["KeyLimitsRequest"] | null;
                    project?: string | null;
                };
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Key"];
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_operator_v1_accounts_accountId_keys_id_rotate: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                accountId: string;
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["KeyRotateRequest"] | null;
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IssuedKey"];
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_operator_v1_accounts_accountId_keys_id_revoke: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                accountId: string;
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Key"];
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_operator_v1_accounts_accountId_keys_id_restore: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                accountId: string;
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Key"];
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_organisation_v1_keys: {
        parameters: {
            query?: {
                limit?: number;
                after?: string;
                order?: "asc" | "desc";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeyList"];
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_organisation_v1_keys: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["KeyCreateRequest"];
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IssuedKey"];
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_organisation_v1_keys_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Key"];
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    patch_organisation_v1_keys_id: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    limits?: components["schemas"]["KeyLimitsRequest"] | null;
                    project?: string | null;
                };
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Key"];
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_organisation_v1_keys_id_rotate: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["KeyRotateRequest"] | null;
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IssuedKey"];
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_organisation_v1_keys_id_revoke: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Key"];
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_organisation_v1_keys_id_restore: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Key"];
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_operator_v1_models: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "list";
                        data: {
                            id: string;
                            owned_by: string;
                            /** @enum {string} */
                            kind: "chat" | "embedding";
                            context_window: number | null;
                            modalities: ("text" | "image" | "audio" | "video")[];
                            takes_temperature: boolean;
                            tokenizer: ("o200k_base" | "cl100k_base" | "p50k_base" | "r50k_base") | null;
                            active_parameters_b: {
                                min: number;
                                max: number;
                            } | null;
                            total_parameters_b: {
                                min: number;
                                max: number;
                            } | null;
                            parameters_source: string | null;
                            model_class: ("small" | "medium" | "large" | "moe_small_active" | "frontier" | "embedding") | null;
                            quantization_bits: number | null;
                            tokens_per_s: number | null;
                            ttft_s: number | null;
                            /** Format: date-time */
                            created_at: string;
                            /** @constant */
                            object: "model";
                            /** @description Which version of the catalogue changed the entry last, when, and who: `sources` of a lineage name it as vouching for the entry. Null where nobody knows */
                            last_change: {
                                catalogue_version: number;
                                /** Format: date-time */
                                changed_at: string;
                                changed_by: string;
                            } | null;
                            /** @description What will not work as one may expect */
                            warnings: string[];
                        }[];
                        has_more: boolean;
                        first_id: string | null;
                        last_id: string | null;
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_operator_v1_models: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    owned_by: string;
                    /** @enum {string} */
                    kind: "chat" | "embedding";
                    context_window?: number | null;
                    modalities?: ("text" | "image" | "audio" | "video")[];
                    takes_temperature?: boolean;
                    tokenizer?: ("o200k_base" | "cl100k_base" | "p50k_base" | "r50k_base") | null;
                    active_parameters_b?: (number | {
                        min: number;
                        max: number;
                    }) | null;
                    total_parameters_b?: (number | {
                        min: number;
                        max: number;
                    }) | null;
                    parameters_source?: (string & (unknown & unknown)) | null;
                    model_class?: ("small" | "medium" | "large" | "moe_small_active" | "frontier" | "embedding") | null;
                    quantization_bits?: number | null;
                    tokens_per_s?: number | null;
                    ttft_s?: number | null;
                    id: string;
                };
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        owned_by: string;
                        /** @enum {string} */
                        kind: "chat" | "embedding";
                        context_window: number | null;
                        modalities: ("text" | "image" | "audio" | "video")[];
                        takes_temperature: boolean;
                        tokenizer: ("o200k_base" | "cl100k_base" | "p50k_base" | "r50k_base") | null;
                        active_parameters_b: {
                            min: number;
                            max: number;
                        } | null;
                        total_parameters_b: {
                            min: number;
                            max: number;
                        } | null;
                        parameters_source: string | null;
                        model_class: ("small" | "medium" | "large" | "moe_small_active" | "frontier" | "embedding") | null;
                        quantization_bits: number | null;
                        tokens_per_s: number | null;
                        ttft_s: number | null;
                        /** Format: date-time */
                        created_at: string;
                        /** @constant */
                        object: "model";
                        /** @description Which version of the catalogue changed the entry last, when, and who: `sources` of a lineage name it as vouching for the entry. Null where nobody knows */
                        last_change: {
                            catalogue_version: number;
                            /** Format: date-time */
                            changed_at: string;
                            changed_by: string;
                        } | null;
                        /** @description What will not work as one may expect */
                        warnings: string[];
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_operator_v1_models_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        owned_by: string;
                        /** @enum {string} */
                        kind: "chat" | "embedding";
                        context_window: number | null;
                        modalities: ("text" | "image" | "audio" | "video")[];
                        takes_temperature: boolean;
                        tokenizer: ("o200k_base" | "cl100k_base" | "p50k_base" | "r50k_base") | null;
                        active_parameters_b: {
                            min: number;
                            max: number;
                        } | null;
                        total_parameters_b: {
                            min: number;
                            max: number;
                        } | null;
                        parameters_source: string | null;
                        model_class: ("small" | "medium" | "large" | "moe_small_active" | "frontier" | "embedding") | null;
                        quantization_bits: number | null;
                        tokens_per_s: number | null;
                        ttft_s: number | null;
                        /** Format: date-time */
                        created_at: string;
                        /** @constant */
                        object: "model";
                        /** @description Which version of the catalogue changed the entry last, when, and who: `sources` of a lineage name it as vouching for the entry. Null where nobody knows */
                        last_change: {
                            catalogue_version: number;
                            /** Format: date-time */
                            changed_at: string;
                            changed_by: string;
                        } | null;
                        /** @description What will not work as one may expect */
                        warnings: string[];
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    delete_operator_v1_models_id: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        /** @constant */
                        object: "model";
                        /** @constant */
                        deleted: true;
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    patch_operator_v1_models_id: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    owned_by?: string;
                    /** @enum {string} */
                    kind?: "chat" | "embedding";
                    context_window?: number | null;
                    modalities?: ("text" | "image" | "audio" | "video")[];
                    takes_temperature?: boolean;
                    tokenizer?: ("o200k_base" | "cl100k_base" | "p50k_base" | "r50k_base") | null;
                    active_parameters_b?: (number | {
                        min: number;
                        max: number;
                    }) | null;
                    total_parameters_b?: (number | {
                        min: number;
                        max: number;
                    }) | null;
                    parameters_source?: (string & (unknown & unknown)) | null;
                    model_class?: ("small" | "medium" | "large" | "moe_small_active" | "frontier" | "embedding") | null;
                    quantization_bits?: number | null;
                    tokens_per_s?: number | null;
                    ttft_s?: number | null;
                };
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        owned_by: string;
                        /** @enum {string} */
                        kind: "chat" | "embedding";
                        context_window: number | null;
                        modalities: ("text" | "image" | "audio" | "video")[];
                        takes_temperature: boolean;
                        tokenizer: ("o200k_base" | "cl100k_base" | "p50k_base" | "r50k_base") | null;
                        active_parameters_b: {
                            min: number;
                            max: number;
                        } | null;
                        total_parameters_b: {
                            min: number;
                            max: number;
                        } | null;
                        parameters_source: string | null;
                        model_class: ("small" | "medium" | "large" | "moe_small_active" | "frontier" | "embedding") | null;
                        quantization_bits: number | null;
                        tokens_per_s: number | null;
                        ttft_s: number | null;
                        /** Format: date-time */
                        created_at: string;
                        /** @constant */
                        object: "model";
                        /** @description Which version of the catalogue changed the entry last, when, and who: `sources` of a lineage name it as vouching for the entry. Null where nobody knows */
                        last_change: {
                            catalogue_version: number;
                            /** Format: date-time */
                            changed_at: string;
                            changed_by: string;
                        } | null;
                        /** @description What will not work as one may expect */
                        warnings: string[];
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_operator_v1_regions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "list";
                        data: {
                            code: string;
                            name: string;
                            country: string;
                            grid_zone: string;
                            /** @enum {string} */
                            status: "active" | "degraded" | "saturated" | "decommissioned";
                            preference: number;
                            /** @constant */
                            object: "region";
                            /** @description Which version of the catalogue changed the entry last, when, and who: `sources` of a lineage name it as vouching for the entry. Null where nobody knows */
                            last_change: {
                                catalogue_version: number;
                                /** Format: date-time */
                                changed_at: string;
                                changed_by: string;
                            } | null;
                            /** @description What will not work as one may expect */
                            warnings: string[];
                        }[];
                        has_more: boolean;
                        first_id: string | null;
                        last_id: string | null;
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_operator_v1_regions: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    name: string;
                    country: string;
                    grid_zone: string;
                    /** @enum {string} */
                    status?: "active" | "degraded" | "saturated" | "decommissioned";
                    preference?: number;
                    code: string;
                };
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        code: string;
                        name: string;
                        country: string;
                        grid_zone: string;
                        /** @enum {string} */
                        status: "active" | "degraded" | "saturated" | "decommissioned";
                        preference: number;
                        /** @constant */
                        object: "region";
                        /** @description Which version of the catalogue changed the entry last, when, and who: `sources` of a lineage name it as vouching for the entry. Null where nobody knows */
                        last_change: {
                            catalogue_version: number;
                            /** Format: date-time */
                            changed_at: string;
                            changed_by: string;
                        } | null;
                        /** @description What will not work as one may expect */
                        warnings: string[];
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_operator_v1_regions_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        code: string;
                        name: string;
                        country: string;
                        grid_zone: string;
                        /** @enum {string} */
                        status: "active" | "degraded" | "saturated" | "decommissioned";
                        preference: number;
                        /** @constant */
                        object: "region";
                        /** @description Which version of the catalogue changed the entry last, when, and who: `sources` of a lineage name it as vouching for the entry. Null where nobody knows */
                        last_change: {
                            catalogue_version: number;
                            /** Format: date-time */
                            changed_at: string;
                            changed_by: string;
                        } | null;
                        /** @description What will not work as one may expect */
                        warnings: string[];
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    delete_operator_v1_regions_id: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        /** @constant */
                        object: "region";
                        /** @constant */
                        deleted: true;
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    patch_operator_v1_regions_id: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    name?: string;
                    country?: string;
                    grid_zone?: string;
                    /** @enum {string} */
                    status?: "active" | "degraded" | "saturated" | "decommissioned";
                    preference?: number;
                };
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        code: string;
                        name: string;
                        country: string;
                        grid_zone: string;
                        /** @enum {string} */
                        status: "active" | "degraded" | "saturated" | "decommissioned";
                        preference: number;
                        /** @constant */
                        object: "region";
                        /** @description Which version of the catalogue changed the entry last, when, and who: `sources` of a lineage name it as vouching for the entry. Null where nobody knows */
                        last_change: {
                            catalogue_version: number;
                            /** Format: date-time */
                            changed_at: string;
                            changed_by: string;
                        } | null;
                        /** @description What will not work as one may expect */
                        warnings: string[];
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_operator_v1_providers: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "list";
                        data: {
                            id: string;
                            name: string;
                            /** @enum {string} */
                            kind: "openai" | "simulator";
                            base_url: string;
                            local: boolean;
                            path: string | null;
                            headers: {
                                [key: string]: string;
                            } | null;
                            request_fields: {
                                [key: string]: string | null;
                            } | null;
                            timeout_s: number | null;
                            first_byte_timeout_s: number | null;
                            health_path: string | null;
                            auth_header: string | null;
                            auth_scheme: string | null;
                            credential_ref: string | null;
                            /** @constant */
                            object: "provider";
                            /** @description What will not work as one may expect */
                            warnings: string[];
                        }[];
                        has_more: boolean;
                        first_id: string | null;
                        last_id: string | null;
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_operator_v1_providers: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    name: string;
                    /** @enum {string} */
                    kind?: "openai" | "simulator";
                    base_url: string;
                    local?: boolean;
                    path?: string | null;
                    headers?: {
                        [key: string]: string;
                    } | null;
                    request_fields?: {
                        [key: string]: "max_completion_tokens" | "max_tokens" | "seed" | "random_seed" | "frequency_penalty" | "presence_penalty" | "logit_bias" | "parallel_tool_calls" | "user" | "store" | "metadata" | "service_tier" | "reasoning_effort" | "verbosity" | "safety_identifier" | "prompt_cache_key" | "stream_options" | null;
                    } | null;
                    timeout_s?: number | null;
                    first_byte_timeout_s?: number | null;
                    health_path?: string | null;
                    auth_header?: string | null;
                    auth_scheme?: string | null;
                    credential_ref?: string | null;
                    id: string;
                };
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        name: string;
                        /** @enum {string} */
                        kind: "openai" | "simulator";
                        base_url: string;
                        local: boolean;
                        path: string | null;
                        headers: {
                            [key: string]: string;
                        } | null;
                        request_fields: {
                            [key: string]: string | null;
                        } | null;
                        timeout_s: number | null;
                        first_byte_timeout_s: number | null;
                        health_path: string | null;
                        auth_header: string | null;
                        auth_scheme: string | null;
                        credential_ref: string | null;
                        /** @constant */
                        object: "provider";
                        /** @description What will not work as one may expect */
                        warnings: string[];
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_operator_v1_providers_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        name: string;
                        /** @enum {string} */
                        kind: "openai" | "simulator";
                        base_url: string;
                        local: boolean;
                        path: string | null;
                        headers: {
                            [key: string]: string;
                        } | null;
                        request_fields: {
                            [key: string]: string | null;
                        } | null;
                        timeout_s: number | null;
                        first_byte_timeout_s: number | null;
                        health_path: string | null;
                        auth_header: string | null;
                        auth_scheme: string | null;
                        credential_ref: string | null;
                        /** @constant */
                        object: "provider";
                        /** @description What will not work as one may expect */
                        warnings: string[];
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    delete_operator_v1_providers_id: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        /** @constant */
                        object: "provider";
                        /** @constant */
                        deleted: true;
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    patch_operator_v1_providers_id: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    name?: string;
                    /** @enum {string} */
                    kind?: "openai" | "simulator";
                    base_url?: string;
                    local?: boolean;
                    path?: string | null;
                    headers?: {
                        [key: string]: string;
                    } | null;
                    request_fields?: {
                        [key: string]: "max_completion_tokens" | "max_tokens" | "seed" | "random_seed" | "frequency_penalty" | "presence_penalty" | "logit_bias" | "parallel_tool_calls" | "user" | "store" | "metadata" | "service_tier" | "reasoning_effort" | "verbosity" | "safety_identifier" | "prompt_cache_key" | "stream_options" | null;
                    } | null;
                    timeout_s?: number | null;
                    first_byte_timeout_s?: number | null;
                    health_path?: string | null;
                    auth_header?: string | null;
                    auth_scheme?: string | null;
                    credential_ref?: string | null;
                };
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        name: string;
                        /** @enum {string} */
                        kind: "openai" | "simulator";
                        base_url: string;
                        local: boolean;
                        path: string | null;
                        headers: {
                            [key: string]: string;
                        } | null;
                        request_fields: {
                            [key: string]: string | null;
                        } | null;
                        timeout_s: number | null;
                        first_byte_timeout_s: number | null;
                        health_path: string | null;
                        auth_header: string | null;
                        auth_scheme: string | null;
                        credential_ref: string | null;
                        /** @constant */
                        object: "provider";
                        /** @description What will not work as one may expect */
                        warnings: string[];
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_operator_v1_deployments: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "list";
                        data: {
                            id: string;
                            provider: string;
                            region: string;
                            models: {
                                [key: string]: string;
                            };
                            pue: number;
                            pue_evidence: {
                                /** @enum {string} */
                                kind: "measured" | "reported" | "assumed";
                                source: string;
                                period: string | null;
                            } | null;
                            wue_onsite_l_per_kwh: number | null;
                            wue_evidence: {
                                /** @enum {string} */
                                kind: "measured" | "reported" | "assumed";
                                source: string;
                                period: string | null;
                            } | null;
                            telemetry: ("neuralwatt" | "greenpt" | "melious" | "ecologits_impacts" | "energy_header" | "gpu_counters") | null;
                            accelerators: {
                                model: string;
                                count: number;
                            } | null;
                            latency_ms: number | null;
                            relative_cost: number | null;
                            max_concurrent_requests: number | null;
                            /** @constant */
                            object: "deployment";
                            /** @description Which version of the catalogue changed the entry last, when, and who: `sources` of a lineage name it as vouching for the entry. Null where nobody knows */
                            last_change: {
                                catalogue_version: number;
                                /** Format: date-time */
                                changed_at: string;
                                changed_by: string;
                            } | null;
                            /** @description What will not work as one may expect */
                            warnings: string[];
                        }[];
                        has_more: boolean;
                        first_id: string | null;
                        last_id: string | null;
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_operator_v1_deployments: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    provider: string;
                    region: string;
                    models: {
                        [key: string]: string;
                    };
                    pue: number;
                    pue_evidence?: {
                        /** @enum {string} */
                        kind: "measured" | "reported" | "assumed";
                        source: string & (unknown & unknown);
                        period?: string | null;
                    } | null;
                    wue_onsite_l_per_kwh?: number | null;
                    wue_evidence?: {
                        /** @enum {string} */
                        kind: "measured" | "reported" | "assumed";
                        source: string & (unknown & unknown);
                        period?: string | null;
                    } | null;
                    telemetry?: ("neuralwatt" | "greenpt" | "melious" | "ecologits_impacts" | "energy_header" | "gpu_counters") | null;
                    accelerators?: {
                        model: string;
                        count: number;
                    } | null;
                    latency_ms?: number | null;
                    relative_cost?: number | null;
                    max_concurrent_requests?: number | null;
                    id: string;
                };
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        provider: string;
                        region: string;
                        models: {
                            [key: string]: string;
                        };
                        pue: number;
                        pue_evidence: {
                            /** @enum {string} */
                            kind: "measured" | "reported" | "assumed";
                            source: string;
                            period: string | null;
                        } | null;
                        wue_onsite_l_per_kwh: number | null;
                        wue_evidence: {
                            /** @enum {string} */
                            kind: "measured" | "reported" | "assumed";
                            source: string;
                            period: string | null;
                        } | null;
                        telemetry: ("neuralwatt" | "greenpt" | "melious" | "ecologits_impacts" | "energy_header" | "gpu_counters") | null;
                        accelerators: {
                            model: string;
                            count: number;
                        } | null;
                        latency_ms: number | null;
                        relative_cost: number | null;
                        max_concurrent_requests: number | null;
                        /** @constant */
                        object: "deployment";
                        /** @description Which version of the catalogue changed the entry last, when, and who: `sources` of a lineage name it as vouching for the entry. Null where nobody knows */
                        last_change: {
                            catalogue_version: number;
                            /** Format: date-time */
                            changed_at: string;
                            changed_by: string;
                        } | null;
                        /** @description What will not work as one may expect */
                        warnings: string[];
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_operator_v1_deployments_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        provider: string;
                        region: string;
                        models: {
                            [key: string]: string;
                        };
                        pue: number;
                        pue_evidence: {
                            /** @enum {string} */
                            kind: "measured" | "reported" | "assumed";
                            source: string;
                            period: string | null;
                        } | null;
                        wue_onsite_l_per_kwh: number | null;
                        wue_evidence: {
                            /** @enum {string} */
                            kind: "measured" | "reported" | "assumed";
                            source: string;
                            period: string | null;
                        } | null;
                        telemetry: ("neuralwatt" | "greenpt" | "melious" | "ecologits_impacts" | "energy_header" | "gpu_counters") | null;
                        accelerators: {
                            model: string;
                            count: number;
                        } | null;
                        latency_ms: number | null;
                        relative_cost: number | null;
                        max_concurrent_requests: number | null;
                        /** @constant */
                        object: "deployment";
                        /** @description Which version of the catalogue changed the entry last, when, and who: `sources` of a lineage name it as vouching for the entry. Null where nobody knows */
                        last_change: {
                            catalogue_version: number;
                            /** Format: date-time */
                            changed_at: string;
                            changed_by: string;
                        } | null;
                        /** @description What will not work as one may expect */
                        warnings: string[];
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    delete_operator_v1_deployments_id: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        /** @constant */
                        object: "deployment";
                        /** @constant */
                        deleted: true;
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    patch_operator_v1_deployments_id: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    provider?: string;
                    region?: string;
                    models?: unknown;
                    pue?: number;
                    pue_evidence?: {
                        /** @enum {string} */
                        kind: "measured" | "reported" | "assumed";
                        source: string & (unknown & unknown);
                        period?: string | null;
                    } | null;
                    wue_onsite_l_per_kwh?: number | null;
                    wue_evidence?: {
                        /** @enum {string} */
                        kind: "measured" | "reported" | "assumed";
                        source: string & (unknown & unknown);
                        period?: string | null;
                    } | null;
                    telemetry?: ("neuralwatt" | "greenpt" | "melious" | "ecologits_impacts" | "energy_header" | "gpu_counters") | null;
                    accelerators?: {
                        model: string;
                        count: number;
                    } | null;
                    latency_ms?: number | null;
                    relative_cost?: number | null;
                    max_concurrent_requests?: number | null;
                };
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        provider: string;
                        region: string;
                        models: {
                            [key: string]: string;
                        };
                        pue: number;
                        pue_evidence: {
                            /** @enum {string} */
                            kind: "measured" | "reported" | "assumed";
                            source: string;
                            period: string | null;
                        } | null;
                        wue_onsite_l_per_kwh: number | null;
                        wue_evidence: {
                            /** @enum {string} */
                            kind: "measured" | "reported" | "assumed";
                            source: string;
                            period: string | null;
                        } | null;
                        telemetry: ("neuralwatt" | "greenpt" | "melious" | "ecologits_impacts" | "energy_header" | "gpu_counters") | null;
                        accelerators: {
                            model: string;
                            count: number;
                        } | null;
                        latency_ms: number | null;
                        relative_cost: number | null;
                        max_concurrent_requests: number | null;
                        /** @constant */
                        object: "deployment";
                        /** @description Which version of the catalogue changed the entry last, when, and who: `sources` of a lineage name it as vouching for the entry. Null where nobody knows */
                        last_change: {
                            catalogue_version: number;
                            /** Format: date-time */
                            changed_at: string;
                            changed_by: string;
                        } | null;
                        /** @description What will not work as one may expect */
                        warnings: string[];
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_operator_v1_aliases: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "list";
                        data: {
                            id: string;
                            targets: {
                                model: string;
                                provider?: string;
                            }[];
                            /** Format: date-time */
                            created_at: string;
                            /** @constant */
                            object: "alias";
                            /** @description What will not work as one may expect */
                            warnings: string[];
                        }[];
                        has_more: boolean;
                        first_id: string | null;
                        last_id: string | null;
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_operator_v1_aliases: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    targets: {
                        model: string;
                        provider?: string;
                    }[];
                    id: string;
                };
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        targets: {
                            model: string;
                            provider?: string;
                        }[];
                        /** Format: date-time */
                        created_at: string;
                        /** @constant */
                        object: "alias";
                        /** @description What will not work as one may expect */
                        warnings: string[];
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_operator_v1_aliases_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        targets: {
                            model: string;
                            provider?: string;
                        }[];
                        /** Format: date-time */
                        created_at: string;
                        /** @constant */
                        object: "alias";
                        /** @description What will not work as one may expect */
                        warnings: string[];
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    delete_operator_v1_aliases_id: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        /** @constant */
                        object: "alias";
                        /** @constant */
                        deleted: true;
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    patch_operator_v1_aliases_id: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    targets?: {
                        model: string;
                        provider?: string;
                    }[];
                };
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        targets: {
                            model: string;
                            provider?: string;
                        }[];
                        /** Format: date-time */
                        created_at: string;
                        /** @constant */
                        object: "alias";
                        /** @description What will not work as one may expect */
                        warnings: string[];
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_operator_v1_prices: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "list";
                        data: {
                            id: string;
                            provider: string;
                            model: string;
                            region: string | null;
                            /** Format: date-time */
                            valid_from: string;
                            /** @description A decimal */
                            input_per_mtok: string;
                            /** @description A decimal */
                            output_per_mtok: string;
                            source: string;
                            /** @constant */
                            object: "price";
                            /** @description Which version of the catalogue changed the entry last, when, and who: `sources` of a lineage name it as vouching for the entry. Null where nobody knows */
                            last_change: {
                                catalogue_version: number;
                                /** Format: date-time */
                                changed_at: string;
                                changed_by: string;
                            } | null;
                            /** @description What will not work as one may expect */
                            warnings: string[];
                        }[];
                        has_more: boolean;
                        first_id: string | null;
                        last_id: string | null;
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_operator_v1_prices: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description id of the provider that charges it */
                    provider: string;
                    /** @description id of the model, as clients send it */
                    model: string;
                    /** @description code of the region that it is for; null: all that have none of their own */
                    region?: string | null;
                    /** @description from when on, a whole UTC hour; it may be past */
                    valid_from: string;
                    /** @description for 1,000,000 tokens read, in the currency of the gateway */
                    input_per_mtok: number | string;
                    /** @description for 1,000,000 tokens written */
                    output_per_mtok: number | string;
                    /** @description what it rests on: a text or an address */
                    source: string;
                };
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        provider: string;
                        model: string;
                        region: string | null;
                        /** Format: date-time */
                        valid_from: string;
                        /** @description A decimal */
                        input_per_mtok: string;
                        /** @description A decimal */
                        output_per_mtok: string;
                        source: string;
                        /** @constant */
                        object: "price";
                        /** @description Which version of the catalogue changed the entry last, when, and who: `sources` of a lineage name it as vouching for the entry. Null where nobody knows */
                        last_change: {
                            catalogue_version: number;
                            /** Format: date-time */
                            changed_at: string;
                            changed_by: string;
                        } | null;
                        /** @description What will not work as one may expect */
                        warnings: string[];
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_operator_v1_prices_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        provider: string;
                        model: string;
                        region: string | null;
                        /** Format: date-time */
                        valid_from: string;
                        /** @description A decimal */
                        input_per_mtok: string;
                        /** @description A decimal */
                        output_per_mtok: string;
                        source: string;
                        /** @constant */
                        object: "price";
                        /** @description Which version of the catalogue changed the entry last, when, and who: `sources` of a lineage name it as vouching for the entry. Null where nobody knows */
                        last_change: {
                            catalogue_version: number;
                            /** Format: date-time */
                            changed_at: string;
                            changed_by: string;
                        } | null;
                        /** @description What will not work as one may expect */
                        warnings: string[];
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    delete_operator_v1_prices_id: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        /** @constant */
                        object: "price";
                        /** @constant */
                        deleted: true;
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    patch_operator_v1_prices_id: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description for 1,000,000 tokens read, in the currency of the gateway */
                    input_per_mtok?: number | string;
                    /** @description for 1,000,000 tokens written */
                    output_per_mtok?: number | string;
                    /** @description what it rests on: a text or an address */
                    source?: string;
                };
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        provider: string;
                        model: string;
                        region: string | null;
                        /** Format: date-time */
                        valid_from: string;
                        /** @description A decimal */
                        input_per_mtok: string;
                        /** @description A decimal */
                        output_per_mtok: string;
                        source: string;
                        /** @constant */
                        object: "price";
                        /** @description Which version of the catalogue changed the entry last, when, and who: `sources` of a lineage name it as vouching for the entry. Null where nobody knows */
                        last_change: {
                            catalogue_version: number;
                            /** Format: date-time */
                            changed_at: string;
                            changed_by: string;
                        } | null;
                        /** @description What will not work as one may expect */
                        warnings: string[];
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_operator_v1_energy_contracts: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "list";
                        data: {
                            id: string;
                            provider: string | null;
                            region: string | null;
                            /** Format: date-time */
                            valid_from: string;
                            /** Format: date-time */
                            valid_to: string;
                            /** @enum {string} */
                            instrument: "ppa" | "supplier" | "certificate" | "residual_mix";
                            /** @description A decimal */
                            share: string | null;
                            /** @description A decimal */
                            g_per_kwh: string;
                            evidence: string;
                            /** @constant */
                            object: "energy_contract";
                            /** @description Which version of the catalogue changed the entry last, when, and who: `sources` of a lineage name it as vouching for the entry. Null where nobody knows */
                            last_change: {
                                catalogue_version: number;
                                /** Format: date-time */
                                changed_at: string;
                                changed_by: string;
                            } | null;
                            /** @description What will not work as one may expect */
                            warnings: string[];
                        }[];
                        has_more: boolean;
                        first_id: string | null;
                        last_id: string | null;
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_operator_v1_energy_contracts: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description a name that you choose */
                    id: string;
                    /** @description id of the provider whose calls it covers; null: of all */
                    provider?: string | null;
                    /** @description code of the region whose calls it covers; null: all */
                    region?: string | null;
                    /** @description from when on, a whole UTC hour; it may be past */
                    valid_from: string;
                    /** @description until before when, a whole UTC hour */
                    valid_to: string;
                    /**
                     * @description `ppa`, `supplier` or `certificate`; or `residual_mix`, which is for what no other covers
                     * @enum {string}
                     */
                    instrument: "ppa" | "supplier" | "certificate" | "residual_mix";
                    /** @description how much of the energy it covers, above 0 and up to 1; none for a residual mix */
                    share?: (number | string) | null;
                    /** @description gCO2e/kWh of the electricity that was bought */
                    g_per_kwh: number | string;
                    /** @description what it rests on: a text or an address, such as that of the cancelled certificates */
                    evidence: string;
                };
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        provider: string | null;
                        region: string | null;
                        /** Format: date-time */
                        valid_from: string;
                        /** Format: date-time */
                        valid_to: string;
                        /** @enum {string} */
                        instrument: "ppa" | "supplier" | "certificate" | "residual_mix";
                        /** @description A decimal */
                        share: string | null;
                        /** @description A decimal */
                        g_per_kwh: string;
                        evidence: string;
                        /** @constant */
                        object: "energy_contract";
                        /** @description Which version of the catalogue changed the entry last, when, and who: `sources` of a lineage name it as vouching for the entry. Null where nobody knows */
                        last_change: {
                            catalogue_version: number;
                            /** Format: date-time */
                            changed_at: string;
                            changed_by: string;
                        } | null;
                        /** @description What will not work as one may expect */
                        warnings: string[];
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_operator_v1_energy_contracts_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        provider: string | null;
                        region: string | null;
                        /** Format: date-time */
                        valid_from: string;
                        /** Format: date-time */
                        valid_to: string;
                        /** @enum {string} */
                        instrument: "ppa" | "supplier" | "certificate" | "residual_mix";
                        /** @description A decimal */
                        share: string | null;
                        /** @description A decimal */
                        g_per_kwh: string;
                        evidence: string;
                        /** @constant */
                        object: "energy_contract";
                        /** @description Which version of the catalogue changed the entry last, when, and who: `sources` of a lineage name it as vouching for the entry. Null where nobody knows */
                        last_change: {
                            catalogue_version: number;
                            /** Format: date-time */
                            changed_at: string;
                            changed_by: string;
                        } | null;
                        /** @description What will not work as one may expect */
                        warnings: string[];
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    delete_operator_v1_energy_contracts_id: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        /** @constant */
                        object: "energy_contract";
                        /** @constant */
                        deleted: true;
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    patch_operator_v1_energy_contracts_id: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description id of the provider whose calls it covers; null: of all */
                    provider?: string | null;
                    /** @description code of the region whose calls it covers; null: all */
                    region?: string | null;
                    /** @description from when on, a whole UTC hour; it may be past */
                    valid_from?: string;
                    /** @description until before when, a whole UTC hour */
                    valid_to?: string;
                    /**
                     * @description `ppa`, `supplier` or `certificate`; or `residual_mix`, which is for what no other covers
                     * @enum {string}
                     */
                    instrument?: "ppa" | "supplier" | "certificate" | "residual_mix";
                    /** @description how much of the energy it covers, above 0 and up to 1; none for a residual mix */
                    share?: (number | string) | null;
                    /** @description gCO2e/kWh of the electricity that was bought */
                    g_per_kwh?: number | string;
                    /** @description what it rests on: a text or an address, such as that of the cancelled certificates */
                    evidence?: string;
                };
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        provider: string | null;
                        region: string | null;
                        /** Format: date-time */
                        valid_from: string;
                        /** Format: date-time */
                        valid_to: string;
                        /** @enum {string} */
                        instrument: "ppa" | "supplier" | "certificate" | "residual_mix";
                        /** @description A decimal */
                        share: string | null;
                        /** @description A decimal */
                        g_per_kwh: string;
                        evidence: string;
                        /** @constant */
                        object: "energy_contract";
                        /** @description Which version of the catalogue changed the entry last, when, and who: `sources` of a lineage name it as vouching for the entry. Null where nobody knows */
                        last_change: {
                            catalogue_version: number;
                            /** Format: date-time */
                            changed_at: string;
                            changed_by: string;
                        } | null;
                        /** @description What will not work as one may expect */
                        warnings: string[];
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_operator_v1_catalogue: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        models: {
                            [key: string]: unknown;
                        }[];
                        regions: {
                            [key: string]: unknown;
                        }[];
                        providers: {
                            [key: string]: unknown;
                        }[];
                        deployments: {
                            [key: string]: unknown;
                        }[];
                        aliases?: {
                            [key: string]: unknown;
                        }[];
                        prices?: {
                            [key: string]: unknown;
                        }[];
                        energy_contracts?: {
                            [key: string]: unknown;
                        }[];
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    put_operator_v1_catalogue: {
        parameters: {
            query?: {
                dry_run?: "true" | "false";
            };
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    models?: {
                        owned_by: string;
                        /** @enum {string} */
                        kind: "chat" | "embedding";
                        context_window?: number | null;
                        modalities?: ("text" | "image" | "audio" | "video")[];
                        takes_temperature?: boolean;
                        tokenizer?: ("o200k_base" | "cl100k_base" | "p50k_base" | "r50k_base") | null;
                        active_parameters_b?: (number | {
                            min: number;
                            max: number;
                        }) | null;
                        total_parameters_b?: (number | {
                            min: number;
                            max: number;
                        }) | null;
                        parameters_source?: (string & (unknown & unknown)) | null;
                        model_class?: ("small" | "medium" | "large" | "moe_small_active" | "frontier" | "embedding") | null;
                        quantization_bits?: number | null;
                        tokens_per_s?: number | null;
                        ttft_s?: number | null;
                        id: string;
                    }[];
                    regions?: {
                        name: string;
                        country: string;
                        grid_zone: string;
                        /** @enum {string} */
                        status?: "active" | "degraded" | "saturated" | "decommissioned";
                        preference?: number;
                        code: string;
                    }[];
                    providers?: {
                        name: string;
                        /** @enum {string} */
                        kind?: "openai" | "simulator";
                        base_url: string;
                        local?: boolean;
                        path?: string | null;
                        headers?: {
                            [key: string]: string;
                        } | null;
                        request_fields?: {
                            [key: string]: "max_completion_tokens" | "max_tokens" | "seed" | "random_seed" | "frequency_penalty" | "presence_penalty" | "logit_bias" | "parallel_tool_calls" | "user" | "store" | "metadata" | "service_tier" | "reasoning_effort" | "verbosity" | "safety_identifier" | "prompt_cache_key" | "stream_options" | null;
                        } | null;
                        timeout_s?: number | null;
                        first_byte_timeout_s?: number | null;
                        health_path?: string | null;
                        auth_header?: string | null;
                        auth_scheme?: string | null;
                        credential_ref?: string | null;
                        id: string;
                    }[];
                    deployments?: {
                        provider: string;
                        region: string;
                        models: {
                            [key: string]: string;
                        };
                        pue: number;
                        pue_evidence?: {
                            /** @enum {string} */
                            kind: "measured" | "reported" | "assumed";
                            source: string & (unknown & unknown);
                            period?: string | null;
                        } | null;
                        wue_onsite_l_per_kwh?: number | null;
                        wue_evidence?: {
                            /** @enum {string} */
                            kind: "measured" | "reported" | "assumed";
                            source: string & (unknown & unknown);
                            period?: string | null;
                        } | null;
                        telemetry?: ("neuralwatt" | "greenpt" | "melious" | "ecologits_impacts" | "energy_header" | "gpu_counters") | null;
                        accelerators?: {
                            model: string;
                            count: number;
                        } | null;
                        latency_ms?: number | null;
                        relative_cost?: number | null;
                        max_concurrent_requests?: number | null;
                        id: string;
                    }[];
                    aliases?: {
                        targets: {
                            model: string;
                            provider?: string;
                        }[];
                        id: string;
                    }[];
                    prices?: {
                        /** @description id of the provider that charges it */
                        provider: string;
                        /** @description id of the model, as clients send it */
                        model: string;
                        /** @description code of the region that it is for; null: all that have none of their own */
                        region?: string | null;
                        /** @description from when on, a whole UTC hour; it may be past */
                        valid_from: string;
                        /** @description for 1,000,000 tokens read, in the currency of the gateway */
                        input_per_mtok: number | string;
                        /** @description for 1,000,000 tokens written */
                        output_per_mtok: number | string;
                        /** @description what it rests on: a text or an address */
                        source: string;
                    }[];
                    energy_contracts?: {
                        /** @description a name that you choose */
                        id: string;
                        /** @description id of the provider whose calls it covers; null: of all */
                        provider?: string | null;
                        /** @description code of the region whose calls it covers; null: all */
                        region?: string | null;
                        /** @description from when on, a whole UTC hour; it may be past */
                        valid_from: string;
                        /** @description until before when, a whole UTC hour */
                        valid_to: string;
                        /**
                         * @description `ppa`, `supplier` or `certificate`; or `residual_mix`, which is for what no other covers
                         * @enum {string}
                         */
                        instrument: "ppa" | "supplier" | "certificate" | "residual_mix";
                        /** @description how much of the energy it covers, above 0 and up to 1; none for a residual mix */
                        share?: (number | string) | null;
                        /** @description gCO2e/kWh of the electricity that was bought */
                        g_per_kwh: number | string;
                        /** @description what it rests on: a text or an address, such as that of the cancelled certificates */
                        evidence: string;
                    }[];
                };
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        object: "catalogue_import";
                        /** @description Whether nothing was changed */
                        dry_run: boolean;
                        changes: {
                            /** @enum {string} */
                            kind: "model" | "region" | "provider" | "deployment" | "alias" | "price" | "energy_contract";
                            id: string;
                            /** @description What differs; null: it is new */
                            before: {
                                [key: string]: unknown;
                            } | null;
                            /** @description What differs; null: it is removed */
                            after: {
                                [key: string]: unknown;
                            } | null;
                            /** @description What will not work as one may expect */
                            warnings: string[];
                        }[];
                    };
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_organisation_v1_evidence_pack: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once. The same one with the same key gets the same reply for 24 hours, with `idempotent-replayed: true`; another body with it is refused: `idempotency_key_reused` */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EvidencePackRequest"];
            };
        };
        responses: {
            /** @description Success */
            "2XX": {
                headers: {
                    /** @description The reply is that of an earlier request with this key */
                    "idempotent-replayed"?: "true";
                    /** @description An earlier request with this key may have reached a provider, or made its change, and left no reply; this one ran anew */
                    "idempotent-reexecuted"?: "provider-may-have-been-asked" | "change-may-have-been-made";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EvidencePack"] | components["schemas"]["EvidencePackJob"];
                };
            };
            /** @description Refused */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
}
