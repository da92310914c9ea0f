mariadb -e "SET GLOBAL wsrep_provider_options = 'pc.weight=100'"
